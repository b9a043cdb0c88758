package io.lendstream.core.scheduler;

import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What services get whose requests are late. Logs of older versions lack these settings.
 *
 * @param extra greatest number of replicas beyond those of its load, as a share of them; one is always allowed. 0:
 *     none, and missed SLOs have no effect on replicas and loans
 * @param withhold for how long after the last window of a row of missed ones no GPU is lent that the service left
 * @param waitingFirst whether requests that wait come before those that are expected: a service gives up replicas that
 *     only expected requests need
 */
public record SloRules(double extra, Duration withhold, boolean waitingFirst) {
    /** Missed SLOs have no effect. */
    public static final SloRules OFF = new SloRules(0, Duration.ofMinutes(10), false);

    private static final String EXTRA = "slo-extra";
    private static final String WITHHOLD = "slo-withhold";
    private static final String WAITING_FIRST = "waiting-first";

    public SloRules {
        if (!(extra >= 0 && extra <= 10)) {
            throw new IllegalArgumentException("scheduler.slo-extra must lie between 0 and 10, but was " + extra);
        }
        if (withhold.isNegative()) {
            throw new IllegalArgumentException("scheduler.slo-withhold must not be negative, but was " + withhold);
        }
    }

    boolean isOn() {
        return extra > 0;
    }

    /** Whether no GPU that the service left may be lent. */
    public boolean withhold(ServiceState service, Instant now) {
        return isOn()
                && service.feedback().isPresent()
                && service.feedback().get().missedWithin(withhold, now);
    }

    /** The same, with or without the order of requests that wait before expected ones. */
    public SloRules withWaitingFirst(boolean on) {
        return new SloRules(extra, withhold, on);
    }

    void putInto(Map<String, String> map) {
        if (isOn()) {
            map.put(EXTRA, Double.toString(extra));
            map.put(WITHHOLD, withhold.toString());
        }
        if (waitingFirst) {
            map.put(WAITING_FIRST, "true");
        }
    }

    static List<String> keys() {
        return List.of(EXTRA, WITHHOLD, WAITING_FIRST);
    }

    static SloRules of(Map<String, String> map) {
        return new SloRules(
                Double.parseDouble(map.getOrDefault(EXTRA, "0")),
                Duration.parse(map.getOrDefault(WITHHOLD, OFF.withhold.toString())),
                Boolean.parseBoolean(map.getOrDefault(WAITING_FIRST, "false")));
    }
}
