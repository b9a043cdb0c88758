package io.lendstream.core.state;

import io.lendstream.core.decision.Wording;
import java.time.Instant;
import java.util.List;

/**
 * Those who use a unit beside the tenant that has it.
 *
 * @param users their names, as agents report them, in order; at least one
 * @param since since when samples show one of them there without a break
 */
public record Intruders(List<String> users, Instant since) {
    public Intruders {
        users = users.stream().distinct().sorted().toList();
        if (users.isEmpty()) {
            throw new IllegalArgumentException("intruders are at least one user, but there was none");
        }
    }

    /** Who uses the unit beside its tenant, for operators. */
    public String inWords() {
        return "also used by %s (not its tenant) since %s".formatted(String.join(", ", users), Wording.time(since));
    }
}
