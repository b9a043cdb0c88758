package io.lendstream.core.repartition;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The durations of steps. NVIDIA publishes no figures: the defaults are reports of operators, and local measurements
 * should replace them.
 *
 * @param create making a GPU instance with its compute instance
 * @param destroy removing it
 * @param switchMode entering or leaving MIG mode, which on A100 takes a reset of the GPU
 * @param load of services that {@code loads} does not name
 * @param drain of services that {@code drains} does not name
 * @param loads from the start of a service's process until it answers, by service
 * @param drains until the last request is answered, by service: its latency objective
 */
public record RepartitionTimes(
        Duration create,
        Duration destroy,
        Duration switchMode,
        Duration load,
        Duration drain,
        Map<String, Duration> loads,
        Map<String, Duration> drains) {
    public static final RepartitionTimes DEFAULT = new RepartitionTimes(
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(20),
            Duration.ofSeconds(60),
            Duration.ofSeconds(1),
            Map.of(),
            Map.of());

    public RepartitionTimes {
        loads = Map.copyOf(loads);
        drains = Map.copyOf(drains);
        check("create", create);
        check("destroy", destroy);
        check("switchMode", switchMode);
        check("load", load);
        check("drain", drain);
        loads.forEach((service, time) -> check("load of " + service, time));
        drains.forEach((service, time) -> check("drain of " + service, time));
    }

    private static void check(String name, Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("%s must take at least PT0S, but takes %s".formatted(name, time));
        }
    }

    /** The same, with a service's own times. */
    public RepartitionTimes with(String service, Duration itsLoad, Duration objective) {
        Map<String, Duration> moreLoads = new HashMap<>(loads);
        Map<String, Duration> moreDrains = new HashMap<>(drains);
        moreLoads.put(service, itsLoad);
        moreDrains.put(service, objective);
        return new RepartitionTimes(create, destroy, switchMode, load, drain, moreLoads, moreDrains);
    }

    Duration load(String service) {
        return loads.getOrDefault(service, load);
    }

    Duration drain(String service) {
        return drains.getOrDefault(service, drain);
    }

    static double seconds(Duration time) {
        return time.toNanos() / 1e9;
    }
}
