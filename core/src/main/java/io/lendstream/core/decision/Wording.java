package io.lendstream.core.decision;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Phrases that reasons of decisions share. */
public final class Wording {
    private static final DateTimeFormatter SECOND = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

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

    /**
     * The change of a job that gains GPUs, perhaps fewer than it gives up; it follows the job's name.
     *
     * @param ran whether the job has run before
     */
    public static String gains(int before, int after, boolean ran) {
        String change = resized(before, after, ran);
        return 0 < after && after < before ? "moves to other GPUs and " + change : change;
    }

    /** The move of a job from a MIG instance; it follows the job's name. */
    public static String leavesInstance(int gpus) {
        return "moves from its MIG instance to " + Reason.counted(gpus, "GPU");
    }

    /**
     * The change of a job that cannot keep some GPUs, such as {@code loses 1 of its 4 GPUs and goes on with 3 GPUs}; it
     * follows the job's name.
     *
     * @param lost GPUs that it cannot keep; at least 1
     */
    public static String loses(int lost, int before, int after) {
        String all = before == 1 ? "its GPU" : "its " + before + " GPUs";
        return "loses " + (lost < before ? lost + " of " + all : all) + " and "
                + (after == 0 ? "waits" : "goes on with " + Reason.counted(after, "GPU"));
    }

    /** Items in a sentence, such as {@code a, b and c}. */
    public static String list(List<String> items) {
        int last = items.size() - 1;
        if (last < 1) {
            return String.join("", items);
        }
        return String.join(", ", items.subList(0, last)) + " and " + items.get(last);
    }

    /**
     * MIG instances by profile, such as {@code 1 × 3g.20gb and 2 × 2g.10gb}.
     *
     * @param profiles one an instance; their order is kept
     */
    public static String layout(List<String> profiles) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        profiles.forEach(profile -> counts.merge(profile, 1, Integer::sum));
        List<String> items = new ArrayList<>();
        counts.forEach((profile, count) -> items.add(count + " × " + profile));
        return list(items);
    }

    /** The stop of sleeping replicas for another object, whose name follows; it follows the name of their service. */
    public static String idles(int replicas) {
        return "idles " + Reason.counted(replicas, "replica") + ": "
                + (replicas == 1 ? "its GPU is free for " : "their GPUs are free for ");
    }

    /** The stop of replicas for waiting requests of another service; it follows the name of their service. */
    public static String stopsFor(int replicas, String service) {
        return "stops " + Reason.counted(replicas, "replica") + " for requests of " + service + " that wait";
    }

    /** What a service lacks: replicas, or the start of those that come up. */
    public static String lacking(int missing, int starting, String replica) {
        if (missing > 0) {
            return "is short of " + Reason.counted(missing, replica);
        }
        return starting > 0 ? "waits for " + Reason.counted(starting, "new " + replica) : "has enough replicas";
    }

    /** A share in per cent, such as {@code 73 %}. */
    public static String percent(double share) {
        return Math.round(100 * share) + " %";
    }

    /** A time, such as {@code 2026-01-01 12:05:30 UTC}. */
    public static String time(Instant at) {
        return SECOND.format(at);
    }

    /** A time of day, such as {@code 12:05 UTC}. */
    public static String timeOfDay(Instant at) {
        return LocalTime.ofInstant(at, ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS) + " UTC";
    }
}
