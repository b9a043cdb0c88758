package io.lendstream.core.scheduler;

import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.Trust;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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

    /** Why a level must not rise at a time, with the way out; empty if it may. */
    public Optional<String> againstRising(Mode mode, TrustLevel to, Instant now) {
        return obstacle(mode, to, now)
                .map(cause -> cause
                        + mode.trust()
                                .map(trust -> trust.cleanSince().plus(stepAfter))
                                .filter(now::isBefore)
                                .map(from -> "; wait until %s, or use --anyway".formatted(from))
                                .orElse("; --anyway overrides this"));
    }

    /**
     * The same without the way out. The level rises by one step, once the time is over in which no loan may come back
     * late.
     */
    Optional<String> obstacle(Mode mode, TrustLevel to, Instant now) {
        Optional<Trust> trust = mode.trust();
        Optional<TrustLevel> next = mode.level().next();
        if (trust.isEmpty() || next.isEmpty()) {
            return Optional.empty();
        }
        if (to.compareTo(next.get()) > 0) {
            return Optional.of("it rises one step at a time, and the next one is %s"
                    .formatted(next.get().label()));
        }
        if (!now.isBefore(trust.get().cleanSince().plus(stepAfter))) {
            return Optional.empty();
        }
        return Optional.of(
                "%s without a late reclaim are needed (scheduler.trust-step-after), and %s have passed since %s%s"
                        .formatted(
                                inWords(stepAfter),
                                inWords(Duration.between(trust.get().cleanSince(), now)),
                                trust.get().cleanSince(),
                                trust.get()
                                        .lastLateAt()
                                        .filter(trust.get().cleanSince()::equals)
                                        .map(late -> ", when a GPU came back late")
                                        .orElse("")));
    }

    /** A time in the largest units that give it a number, such as {@code 2.5 days} or {@code 40 s}. */
    public static String inWords(Duration time) {
        long seconds = Math.max(0, time.toSeconds());
        if (seconds >= 86_400) {
            String days = tenths(seconds / 86_400.0);
            return days + (days.equals("1") ? " day" : " days");
        }
        if (seconds >= 3_600) {
            return "%s h".formatted(tenths(seconds / 3_600.0));
        }
        return seconds >= 120 ? "%d min".formatted(seconds / 60) : seconds + " s";
    }

    private static String tenths(double number) {
        double tenths = Math.floor(number * 10) / 10;
        return tenths == Math.rint(tenths) ? Long.toString((long) tenths) : Double.toString(tenths);
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

    /** Every key that {@link #putInto} may write. */
    static Set<String> keys() {
        return Set.of(FIRST, SHARE, STEP_AFTER);
    }

    /** Reads what {@link #putInto} wrote; keys that are not there have their defaults. */
    static TrustRules of(Map<String, String> map) {
        return new TrustRules(
                level(map.getOrDefault(FIRST, DEFAULTS.first.label())),
                Double.parseDouble(map.getOrDefault(SHARE, Double.toString(DEFAULTS.share))),
                Duration.parse(map.getOrDefault(STEP_AFTER, DEFAULTS.stepAfter.toString())));
    }
}
