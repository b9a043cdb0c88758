package io.lendstream.core.decision;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/** Phrases that reasons of decisions share. */
public final class Wording {
    private Wording() {}

    /**
     * The change of a job's GPUs, such as {@code grows from 3 to 4 GPUs}; it follows the job's name.
     *
     * @param ran whether the job has run before
     */
    public static String resized(int before, int after, boolean ran) {
        if (before == 0) {
            return (ran ? "resumes on " : "starts on ") + Reason.counted(after, "GPU");
        }
        if (after == 0) {
            return "gives up " + (before == 1 ? "its GPU" : "its " + before + " GPUs") + " and waits";
        }
        if (before == after) {
            return before == 1 ? "moves to another GPU" : "changes some of its " + before + " GPUs";
        }
        return (after > before ? "grows" : "shrinks") + " from " + before + " to " + Reason.counted(after, "GPU");
    }

    /** The stop of sleeping replicas for another object, whose name follows; it follows the name of their service. */
    public static String idles(int replicas) {
        return "idles " + Reason.counted(replicas, "replica") + ": "
                + (replicas == 1 ? "its GPU is free for " : "their GPUs are free for ");
    }

    /** A share in per cent, such as {@code 73 %}. */
    public static String percent(double share) {
        return Math.round(100 * share) + " %";
    }

    /** A time of day, such as {@code 12:05 UTC}. */
    public static String timeOfDay(Instant at) {
        return LocalTime.ofInstant(at, ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS) + " UTC";
    }
}
