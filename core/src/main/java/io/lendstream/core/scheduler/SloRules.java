package io.lendstream.core.scheduler;

import java.util.Map;

/**
 * What a service gets that misses its SLO. Logs of older versions lack this setting.
 *
 * @param extra greatest number of replicas beyond those of its load, as a share of them; one is always allowed. 0:
 *     none, and missed SLOs have no effect on replicas and loans
 */
public record SloRules(double extra) {
    /** Missed SLOs have no effect. */
    public static final SloRules OFF = new SloRules(0);

    private static final String EXTRA = "slo-extra";

    public SloRules {
        if (!(extra >= 0 && extra <= 10)) {
            throw new IllegalArgumentException("scheduler.slo-extra must lie between 0 and 10, but was " + extra);
        }
    }

    boolean isOn() {
        return extra > 0;
    }

    void putInto(Map<String, String> map) {
        if (isOn()) {
            map.put(EXTRA, Double.toString(extra));
        }
    }

    static String key() {
        return EXTRA;
    }

    static SloRules of(Map<String, String> map) {
        return new SloRules(Double.parseDouble(map.getOrDefault(EXTRA, "0")));
    }
}
