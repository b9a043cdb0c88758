package io.lendstream.core.event;

import java.time.Duration;
import java.util.Optional;

/** How long the parts of carrying out a decision took, each from the one before it. */
public record Timings(
        Optional<Duration> prepare, Optional<Duration> release, Optional<Duration> bind, Optional<Duration> ready) {
    public static final Timings NONE =
            new Timings(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
}
