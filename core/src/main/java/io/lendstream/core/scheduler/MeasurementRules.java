package io.lendstream.core.scheduler;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How the scheduler reckons with what it measures. Logs of older versions lack these settings.
 *
 * @param learn whether measured start-up times and fits of earlier jobs count instead of declarations
 * @param rememberProfiles for how long without use the fits of an application are kept whose jobs are forgotten; 0 if
 *     they are not. They are kept only while {@code learn} is on
 */
public record MeasurementRules(boolean learn, Duration rememberProfiles) {
    /** Declarations count. */
    public static final MeasurementRules OFF = new MeasurementRules(false, Duration.ZERO);

    private static final String LEARN = "learn";
    private static final String REMEMBER_PROFILES = "remember-profiles";

    public MeasurementRules {
        if (rememberProfiles.isNegative() || rememberProfiles.compareTo(DeclarableSettings.LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "scheduler.remember-profiles must lie between 0s, which switches it off, and %dd, but was %s"
                            .formatted(DeclarableSettings.LONGEST.toDays(), rememberProfiles));
        }
    }

    /** The same with another {@code learn}. */
    public MeasurementRules withLearn(boolean on) {
        return new MeasurementRules(on, rememberProfiles);
    }

    /** Whether what ended jobs taught is kept when they are forgotten. */
    boolean remembers() {
        return learn && !rememberProfiles.isZero();
    }

    /** Writes the settings into the log's, as far as they are on. */
    void putInto(Map<String, String> map) {
        if (learn) {
            map.put(LEARN, "true");
        }
        if (!rememberProfiles.isZero()) {
            map.put(REMEMBER_PROFILES, rememberProfiles.toString());
        }
    }

    /** The settings that a domain may declare, also where {@link #putInto} leaves them out. */
    void putDeclarableInto(Map<String, String> map) {
        map.put(LEARN, Boolean.toString(learn));
        map.put(REMEMBER_PROFILES, rememberProfiles.toString());
    }

    static List<String> keys() {
        return List.of(LEARN, REMEMBER_PROFILES);
    }

    static MeasurementRules of(Map<String, String> map) {
        return new MeasurementRules(
                Boolean.parseBoolean(map.getOrDefault(LEARN, "false")),
                Duration.parse(map.getOrDefault(REMEMBER_PROFILES, "PT0S")));
    }
}
