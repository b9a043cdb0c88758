package io.lendstream.core.state;

import io.lendstream.core.event.Limits;
import io.lendstream.core.id.KindId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * How long replicas of one shape took to start on a kind of GPU, by reports of actuators.
 *
 * @param shape the name of their shape; empty for replicas of one GPU
 * @param kind the kind of GPU; empty if the service does not declare it apart
 * @param cached whether the service had a replica on the node already, where it declares that such starts are faster
 * @param millis the last times in milliseconds, latest last; at most {@value #MOST}
 */
public record StartUp(Optional<String> shape, Optional<KindId> kind, boolean cached, List<Long> millis) {
    /** How many starts are kept. */
    static final int MOST = 20;
    /** How many starts it takes until a shorter time than the declared one is believed. */
    public static final int ENOUGH = 5;

    private static final int PERCENT = 95;

    public StartUp {
        millis = List.copyOf(millis);
    }

    /** Without a start. */
    static StartUp none(Optional<String> shape, Optional<KindId> kind, boolean cached) {
        return new StartUp(shape, kind, cached, List.of());
    }

    /** With one more start. */
    StartUp with(Duration took) {
        List<Long> next = new ArrayList<>(millis);
        next.add(Math.max(0, Limits.millis(took)));
        return new StartUp(shape, kind, cached, next.subList(Math.max(0, next.size() - MOST), next.size()));
    }

    boolean isLike(StartUp other) {
        return shape.equals(other.shape) && kind.equals(other.kind) && cached == other.cached;
    }

    /** Whether enough starts are measured that the declared time does not matter any more. */
    public boolean isEnough() {
        return millis.size() >= ENOUGH;
    }

    /**
     * The time to reckon with: until {@value #ENOUGH} starts are measured, the greatest of them and of the declared
     * time; then their 95th percentile, or the latest one if that is longer.
     */
    Duration estimate(Duration declared) {
        if (millis.isEmpty()) {
            return declared;
        }
        if (!isEnough()) {
            Duration longest = Duration.ofMillis(Collections.max(millis));
            return longest.compareTo(declared) > 0 ? longest : declared;
        }
        List<Long> sorted = millis.stream().sorted().toList();
        long quantile = sorted.get((sorted.size() * PERCENT + 99) / 100 - 1);
        return Duration.ofMillis(Math.max(quantile, millis.get(millis.size() - 1)));
    }
}
