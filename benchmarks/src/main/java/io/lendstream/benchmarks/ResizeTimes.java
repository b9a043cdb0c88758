package io.lendstream.benchmarks;

import static io.lendstream.benchmarks.WorkerNotes.medianSeconds;

import io.lendstream.actuator.jobs.ChangeTimings;
import io.lendstream.benchmarks.WorkerNotes.Step;
import io.lendstream.core.decision.DecisionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** The times of resizes, from the steps that the workers of the job logged. */
final class ResizeTimes {
    /** Steps between changes; their median is the step time of the size. */
    static final int STEPS = 6;

    private ResizeTimes() {}

    /**
     * A change of the size of the job.
     *
     * @param kind shrink or grow
     * @param askedNanos the time of the request, by the monotonic clock of the machine
     */
    record AskedChange(String kind, long askedNanos, DecisionId id) {}

    /**
     * The seconds of the changes, by measurement.
     *
     * @param released the time when the last leaving worker had ended, by change
     */
    static Map<String, List<Double>> of(
            List<Step> steps, List<AskedChange> asked, Map<DecisionId, ChangeTimings> released) {
        Map<String, List<Double>> values = new TreeMap<>();
        for (AskedChange change : asked) {
            int at = firstAfter(steps, change);
            if (at < 1) {
                continue;
            }
            double before = medianSeconds(steps, at - STEPS, at);
            double last = steps.get(at - 1).endNanos() / 1e9;
            double pause = steps.get(at).endNanos() / 1e9
                    - last
                    - Math.min(before, medianSeconds(steps, at + 2, at + 2 + STEPS));
            add(values, change.kind() + "_pause", pause);
            int full = at;
            while (!steps.get(full).allTookSamples()) {
                full++;
            }
            add(values, change.kind() + "_decision_to_full", (steps.get(full).endNanos() - change.askedNanos()) / 1e9);
            ChangeTimings timings = released.get(change.id());
            if (timings != null) {
                double release = seconds(timings.sinceAsked());
                add(values, "release", release);
                add(values, "release_beyond_a_step", release - before);
            }
            add(values, change.kind().equals("grow") ? "step_of_two" : "step_of_four", before);
        }
        return values;
    }

    /** The first completed step at the new size. */
    private static int firstAfter(List<Step> steps, AskedChange change) {
        int world = change.kind().equals("shrink") ? 2 : 4;
        return IntStream.range(0, steps.size())
                .filter(i -> steps.get(i).endNanos() > change.askedNanos()
                        && steps.get(i).world() == world)
                .findFirst()
                .orElse(-1);
    }

    private static void add(Map<String, List<Double>> values, String name, double value) {
        values.computeIfAbsent(name, any -> new ArrayList<>()).add(value);
    }

    static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
