package io.lendstream.core.scheduler;

import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Vacancy;
import java.time.Duration;
import java.util.Map;

/**
 * What the scheduler makes of the users of GPUs that agents report.
 *
 * @param heeded whether a GPU that others use is never given to a tenant. Logs of older versions lack this setting
 * @param goneAfter how long agents have to report a GPU as unused until it is free; more than 0
 * @param evidenceAfter how long agent and actuator have to report that nothing runs on a quarantined GPU until it is
 *     free; 0 if only a reset frees it. Logs of older versions lack this setting
 * @param intruders whether it is noted who uses a GPU beside its tenant. Logs of older versions lack this setting
 * @param remembered whether it is remembered who used a GPU as its tenant: one who stays after the release is no
 *     stranger; and a stranger has gone only once no actuator finds it. With it, a job on several nodes is taken over.
 *     Logs of older versions lack this setting
 * @param strict whether what was taken over stays so whatever is declared later, a GPU whose adoption is not answered
 *     is never freed without it, and a GPU that comes back, or that another node reports, is judged as a new one. Logs
 *     of older versions lack this setting
 */
public record UserRules(
        boolean heeded,
        Duration goneAfter,
        Duration evidenceAfter,
        boolean intruders,
        boolean remembered,
        boolean strict) {
    /** Users are shown only. */
    public static final UserRules SHOWN = new UserRules(false, Duration.ofMinutes(2), Duration.ZERO, false);

    /** The rules of this version. */
    public UserRules(boolean heeded, Duration goneAfter, Duration evidenceAfter, boolean intruders) {
        this(heeded, goneAfter, evidenceAfter, intruders, heeded, heeded);
    }

    public UserRules {
        if (goneAfter.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException(
                    "scheduler.foreign-gone-after must be at least 1s, but was " + goneAfter);
        }
        if (evidenceAfter.isNegative()) {
            throw new IllegalArgumentException(
                    "scheduler.quarantine-evidence must be at least 0s, which switches it off, but was "
                            + evidenceAfter);
        }
    }

    /** Writes the settings into the log's, as far as they are on. */
    void putInto(Map<String, String> map) {
        if (heeded) {
            map.put("heed-users", "true");
            map.put("foreign-gone-after", goneAfter.toString());
        }
        if (countsEvidence()) {
            map.put("quarantine-evidence", evidenceAfter.toString());
        }
        if (noticesIntruders()) {
            map.put("heed-intruders", "true");
        }
        if (remembers()) {
            map.put("remember-users", "true");
        }
        if (isStrict()) {
            map.put("strict-users", "true");
        }
    }

    /** Whether a quarantine ends once it is known that nothing runs there. */
    boolean countsEvidence() {
        return heeded && !evidenceAfter.isZero();
    }

    /** Whether it is noted who uses a GPU beside its tenant; if they stay when it leaves, the GPU is foreign. */
    boolean noticesIntruders() {
        return heeded && intruders;
    }

    /**
     * Whether a user who was shown on a GPU while a tenant had it counts as this tenant after the release, and one who
     * is not shown any more as there while an actuator finds it.
     */
    boolean remembers() {
        return heeded && remembered;
    }

    /** Whether the stricter rules on what was taken over, and on GPUs that come back, are in force. */
    boolean isStrict() {
        return heeded && strict;
    }

    /** Whether what a job runs was taken over. Without the stricter rules that is what its owner declares now. */
    public boolean isTakenOver(JobState job) {
        return isStrict() ? job.isTakenOver() : job.spec().adopt().isPresent();
    }

    /** A quarantine whose cause is gone with what runs there. */
    Owner.Quarantined quarantine(String why) {
        return countsEvidence() ? new Owner.Quarantined(why, Vacancy.NONE) : new Owner.Quarantined(why);
    }
}
