package io.lendstream.core.scheduler;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How the scheduler reckons with what it measures. Logs of older versions lack these settings.
 *
 * @param learn whether measured start-up times and fits of earlier jobs count instead of declarations
 * @param rememberProfiles for how long without use the fits of an application are kept whose jobs are forgotten; 0 if
 *     they are not. They are used and added to only while {@code learn} is on
 * @param sumShortWindows whether windows of request rates that are too short for a rate are summed up to one
 */
public record MeasurementRules(boolean learn, Duration rememberProfiles, boolean sumShortWindows) {
    /** Declarations count, and short windows give no rate. */
    public static final MeasurementRules OFF = new MeasurementRules(false, Duration.ZERO, false);

    /** Windows in a row in which a service misses its SLO until that counts. */
    static final int SUSTAINED_WINDOWS = 3;

    private static final String LEARN = "learn";
    private static final String REMEMBER_PROFILES = "remember-profiles";
    private static final String SUM_SHORT_WINDOWS = "sum-short-windows";

    public MeasurementRules {
        if (rememberProfiles.isNegative() || rememberProfiles.compareTo(DeclarableSettings.LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "scheduler.remember-profiles must lie between 0s, which switches it off, and %dd, but was %s"
                            .formatted(DeclarableSettings.LONGEST.toDays(), rememberProfiles));
        }
    }

    /** The same with another {@code learn}. */
    public MeasurementRules withLearn(boolean on) {
        return new MeasurementRules(on, rememberProfiles, sumShortWindows);
    }

    /** Whether what ended jobs taught is kept when they are forgotten. */
    boolean remembers() {
        return learn && !rememberProfiles.isZero();
    }

    /**
     * A rate as an SLO is judged by it. Of short windows that are summed up, the one that makes a rate of them is
     * judged, as one that is as long as the shortest that gives a rate; empty for the others. A second in which no
     * request ended would say nothing, and end a row of misses.
     *
     * @param service after the rate
     */
    Optional<RequestRate> judged(ServiceState service, RequestRate rate) {
        if (!sumShortWindows || rate.window().compareTo(SourceRate.SHORTEST_RATE) >= 0) {
            return Optional.of(rate);
        }
        return Optional.ofNullable(service.sources().get(rate.source()))
                .filter(source -> source.unrated().isEmpty())
                .map(rated -> rate.since(rate.windowEnd().minus(SourceRate.SHORTEST_RATE)));
    }

    /** Writes the settings into the log's, as far as they are on. */
    void putInto(Map<String, String> map) {
        if (learn) {
            map.put(LEARN, "true");
        }
        if (!rememberProfiles.isZero()) {
            map.put(REMEMBER_PROFILES, rememberProfiles.toString());
        }
        if (sumShortWindows) {
            map.put(SUM_SHORT_WINDOWS, "true");
        }
    }

    /** The settings that a domain may declare, also where {@link #putInto} leaves them out. */
    void putDeclarableInto(Map<String, String> map) {
        map.put(LEARN, Boolean.toString(learn));
        map.put(REMEMBER_PROFILES, rememberProfiles.toString());
    }

    static List<String> keys() {
        return List.of(LEARN, REMEMBER_PROFILES, SUM_SHORT_WINDOWS);
    }

    static MeasurementRules of(Map<String, String> map) {
        return new MeasurementRules(
                Boolean.parseBoolean(map.getOrDefault(LEARN, "false")),
                Duration.parse(map.getOrDefault(REMEMBER_PROFILES, "PT0S")),
                Boolean.parseBoolean(map.getOrDefault(SUM_SHORT_WINDOWS, "false")));
    }
}
