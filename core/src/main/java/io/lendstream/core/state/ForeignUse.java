package io.lendstream.core.state;

import io.lendstream.core.decision.Wording;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The use of a unit by processes that Lendstream did not place.
 *
 * @param users their names, as agents report them, in order; empty if they are not known yet
 * @param freeAt when the unit becomes free if it stays unused; empty while it is used, or its use is not known
 * @param foundBy the actuator that still finds one of the users, although agents say that the unit is unused
 */
public record ForeignUse(List<String> users, Optional<Instant> freeAt, Optional<String> foundBy) {
    /** The use of a unit about which no agent has said anything yet. */
    public static final ForeignUse UNKNOWN = new ForeignUse(List.of(), Optional.empty(), Optional.empty());

    public ForeignUse {
        users = users.stream().sorted().toList();
    }

    /** The same, as long as these use it. */
    public static ForeignUse by(List<String> users) {
        return new ForeignUse(users, Optional.empty(), Optional.empty());
    }

    /** The same while nothing uses it, up to a time. */
    public ForeignUse unusedUntil(Instant time) {
        return new ForeignUse(users, Optional.of(time), Optional.empty());
    }

    /** The same while nothing uses it, but an actuator still finds one of the users; when that is looked at again. */
    public ForeignUse stillFound(String actuator, Instant again) {
        return new ForeignUse(users, Optional.of(again), Optional.of(actuator));
    }

    /** Who uses the unit, and when it becomes free, for operators. */
    public String outlook() {
        if (freeAt.isPresent() && foundBy.isPresent()) {
            return "%s; agents show nothing there now, but actuator %s still finds one of them: it is free at %s if that ends before, or after a reset"
                    .formatted(inWords(), foundBy.get(), Wording.time(freeAt.get()));
        }
        return freeAt.map(time ->
                        "%s; it is unused now, and free at %s if it stays so".formatted(inWords(), Wording.time(time)))
                .orElseGet(() -> users.isEmpty()
                        ? inWords() + "; it is free once an agent reports it as unused"
                        : inWords() + "; it is free a while after they have gone");
    }

    /** Who uses the unit, for operators. */
    public String inWords() {
        if (users.isEmpty()) {
            return "it is not known yet whether something uses it";
        }
        return "used by %s, which Lendstream did not place".formatted(String.join(", ", users));
    }
}
