package io.lendstream.core.scheduler;

import io.lendstream.core.event.TrustLevel;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/**
 * What counts for the levels of trust. Logs of older versions lack these settings.
 *
 * @param first the level at the first start of a domain: every level but {@link TrustLevel#ONE_SERVICE}, which needs a
 *     service
 * @param share greatest share of inference GPUs that is lent at {@link TrustLevel#SHARE}; a fraction
 * @param stepAfter the time without a late reclaim after which the level may rise
 */
public record TrustRules(TrustLevel first, double share, Duration stepAfter) {
    /** Every domain begins at the highest level. */
    public static final TrustRules DEFAULTS = new TrustRules(TrustLevel.ALL, 0.25, Duration.ofDays(3));

    private static final String FIRST = "first-trust";
    private static final String SHARE = "trust-share";
    private static final String STEP_AFTER = "trust-step-after";

    public TrustRules {
        if (first == TrustLevel.UNKNOWN || first == TrustLevel.ONE_SERVICE) {
            throw new IllegalArgumentException(
                    "scheduler.first-trust must be observe, advise, share or all, but was " + first.label());
        }
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("scheduler.trust-share must lie between 0 and 1, but was " + share);
        }
        if (stepAfter.isNegative()) {
            throw new IllegalArgumentException("scheduler.trust-step-after must be at least 0s, but was " + stepAfter);
        }
    }

    /** The level of a name, such as {@code advise}. */
    public static TrustLevel level(String name) {
        return Arrays.stream(TrustLevel.values())
                .filter(level -> level != TrustLevel.UNKNOWN && level.label().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "a level of trust is observe, advise, one, share or all, but was " + name));
    }

    /** Adds the settings that are not the default, by configuration key. */
    void putInto(Map<String, String> map) {
        if (first != DEFAULTS.first) {
            map.put(FIRST, first.label());
        }
        if (share != DEFAULTS.share) {
            map.put(SHARE, Double.toString(share));
        }
        if (!stepAfter.equals(DEFAULTS.stepAfter)) {
            map.put(STEP_AFTER, stepAfter.toString());
        }
    }

    /** Reads what {@link #putInto} wrote; keys that are not there have their defaults. */
    static TrustRules of(Map<String, String> map) {
        return new TrustRules(
                level(map.getOrDefault(FIRST, DEFAULTS.first.label())),
                Double.parseDouble(map.getOrDefault(SHARE, Double.toString(DEFAULTS.share))),
                Duration.parse(map.getOrDefault(STEP_AFTER, DEFAULTS.stepAfter.toString())));
    }
}
