package io.lendstream.core.state;

import io.lendstream.core.decision.Wording;
import java.time.Instant;
import java.util.Optional;

/**
 * The evidence so far that nothing runs on a unit that is out of service.
 *
 * @param unusedSince since when its agent says without a gap that nothing uses it; empty if it does not
 * @param freeAt when the unit becomes free if nothing is seen there until then; empty unless its actuator says too that
 *     no tenant runs there
 */
public record Vacancy(Optional<Instant> unusedSince, Optional<Instant> freeAt) {
    /** No evidence yet. */
    public static final Vacancy NONE = new Vacancy(Optional.empty(), Optional.empty());

    /** When it is free, and by what, for operators. */
    public String outlook() {
        if (freeAt.isPresent()) {
            return "free at %s if nothing is seen there until then".formatted(Wording.time(freeAt.get()));
        }
        return unusedSince
                .map(since -> "unused since %s, and free a while after its actuator reports no tenant there"
                        .formatted(Wording.time(since)))
                .orElse("free a while after agent and actuator report that nothing runs there");
    }
}
