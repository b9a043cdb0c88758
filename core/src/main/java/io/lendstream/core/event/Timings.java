package io.lendstream.core.event;

import java.time.Duration;
import java.util.Optional;

/**
 * The times of the parts of a change, each from the end of the part before.
 *
 * @param pause how long a job did not train for it, where that was measured; from the order where it did not train
 *     before
 */
public record Timings(
        Optional<Duration> prepare,
        Optional<Duration> release,
        Optional<Duration> bind,
        Optional<Duration> ready,
        Optional<Duration> pause) {
    public static final Timings NONE =
            new Timings(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /** For a pause that was not measured. */
    public Timings(
            Optional<Duration> prepare, Optional<Duration> release, Optional<Duration> bind, Optional<Duration> ready) {
        this(prepare, release, bind, ready, Optional.empty());
    }

    /** The same with a pause. */
    public Timings pausing(Optional<Duration> measured) {
        return new Timings(prepare, release, bind, ready, measured);
    }
}
