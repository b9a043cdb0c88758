package io.lendstream.simulator.batching;

import io.lendstream.core.batching.BatchPlan;
import io.lendstream.core.batching.BatchServer;
import io.lendstream.core.batching.Mix;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.ServiceCapacity;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Plays every instance of a plan with what batches really take, which the planner may not have seen: requests arrive at
 * random, and the instance's own share of them is answered.
 *
 * @param requests played on each instance, for each seed
 * @param seeds how often, at least 1
 * @param noise standard deviation of the logarithm of a batch's time
 */
public record PlanPlayer(int requests, int seeds, double noise) {
    /** Student's quantile of 97.5 % by degrees of freedom, 1 to 10; a little more than two beyond. */
    private static final double[] STUDENT = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};

    /**
     * What came of an instance.
     *
     * @param p99Millis mean over the seeds
     * @param upperMillis of which it is 95 % sure that the p99 is below; the p99 itself with a single seed
     * @param late share of requests that were answered too late
     * @param busy share of time in which the instance computed
     */
    public record Outcome(double p99Millis, double upperMillis, double late, double busy) {}

    /** What came of each instance of a plan, in its order; those alike are played once. */
    public List<Outcome> play(BatchPlan plan, Function<ServiceCapacity, ModelLatency> truth) {
        Map<String, Outcome> known = new HashMap<>();
        List<Outcome> outcomes = new ArrayList<>();
        for (BatchPlan.Instance instance : plan.instances()) {
            ServiceCapacity service = plan.services().get(instance.service());
            outcomes.add(known.computeIfAbsent(
                    instance.service() + " " + instance.place().profile().name(), key -> {
                        Mix mix = service.mix(
                                        truth.apply(service), instance.place().profile())
                                .orElseThrow();
                        return play(mix, instance.ratePerSecond(), service);
                    }));
        }
        return outcomes;
    }

    private Outcome play(Mix mix, double ratePerSecond, ServiceCapacity service) {
        BatchServer server = new BatchServer(mix, noise);
        double[] p99 = new double[seeds];
        double late = 0;
        double busy = 0;
        for (int seed = 0; seed < seeds; seed++) {
            BatchServer.Outcome outcome = server.play(
                    ratePerSecond,
                    service.service().cv2(),
                    requests,
                    service.service().sloMillis(),
                    1000 + seed);
            p99[seed] = outcome.p99Millis();
            late += outcome.late() / seeds;
            busy += outcome.busy() / seeds;
        }
        double mean = 0;
        double squares = 0;
        for (double value : p99) {
            mean += value / seeds;
        }
        for (double value : p99) {
            squares += (value - mean) * (value - mean);
        }
        double upper = seeds == 1
                ? mean
                : mean + STUDENT[Math.min(seeds - 1, STUDENT.length) - 1] * Math.sqrt(squares / (seeds - 1) / seeds);
        return new Outcome(mean, upper, late, busy);
    }
}
