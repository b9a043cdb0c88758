package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.ServiceResult;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.JobOutcome;
import io.lendstream.simulator.workload.ModelTruth;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Lending by the policy {@code lendstream} against none, on random services whose demand rises and falls by steps, and
 * training that takes all GPUs it can get. Some services have replicas of two GPUs, some are in queues. Only cases whose
 * needs fit into the inference pool are played. {@code -Dlendstream.cases=2000} tries more; what fails names its seed.
 */
@Tag("long")
class LendingHarmTest {
    private static final int CASES = Integer.getInteger("lendstream.cases", 20);
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final Instant START = Workload.EPOCH;
    private static final int GPUS_PER_NODE = 4;
    private static final int STEPS = 24;
    private static final Duration STEP = Duration.ofMinutes(5);
    private static final Duration WARM_UP = Duration.ofSeconds(10);
    /** Requests per second that a replica is planned for. */
    private static final double PLANNED = 8.5;
    /**
     * The longest that a loan of these jobs takes to come back: a checkpoint of 4 s, a step, and the report, seen with
     * the next slot of 5 s.
     */
    private static final double RELEASE_SECONDS = 15;

    /**
     * A workload.
     *
     * @param nodes of inference
     * @param need the most GPUs that all services need at a time
     */
    private record Case(long seed, int nodes, Workload workload, double need) {
        boolean isWithinPool() {
            // A node may have one GPU that is no use to a pair, and a change of demand counts twice for a moment.
            return need <= nodes * (GPUS_PER_NODE - 1);
        }
    }

    private static Case draw(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int nodes = 2 + random.nextInt(3);
        int services = 2 + random.nextInt(4);
        boolean hasQueues = random.nextInt(3) == 0;
        double[][] needs = new double[services][];
        double load = 0.1 + 1.9 * random.nextDouble();
        for (int i = 0; i < services; i++) {
            needs[i] = needs(random, load * nodes * GPUS_PER_NODE / services);
        }
        List<ServiceLoad> loads = new ArrayList<>();
        for (int i = 0; i < services; i++) {
            loads.add(service(random, i, needs[i], hasQueues));
        }
        double most = IntStream.range(0, STEPS)
                .mapToDouble(step -> IntStream.range(0, services)
                        .mapToDouble(i -> Math.ceil(needs[i][step] / 2) * 2)
                        .sum())
                .max()
                .orElseThrow();
        List<TrainingTask> tasks =
                IntStream.range(0, 3).mapToObj(LendingHarmTest::task).toList();
        Workload workload = new Workload("harm", START, tasks, loads, hasQueues ? queues(nodes) : List.of());
        return new Case(seed, nodes, workload, most);
    }

    /** GPUs that a service needs, step by step; some steps none. */
    private static double[] needs(SplittableRandom random, double mean) {
        double[] needs = new double[STEPS];
        double now = mean * random.nextDouble();
        for (int step = 0; step < STEPS; step++) {
            if (random.nextInt(3) == 0) {
                now = random.nextInt(4) == 0 ? 0 : 2 * mean * random.nextDouble();
            }
            needs[step] = now;
        }
        return needs;
    }

    private static ServiceLoad service(SplittableRandom random, int number, double[] needs, boolean hasQueues) {
        String name = "service-" + number;
        InferenceService service = new InferenceService(
                new ServiceId(name),
                DOMAIN,
                START,
                List.of(name),
                Duration.ofSeconds(30),
                10,
                Optional.empty(),
                random.nextInt(3) == 0 ? 1 : 0,
                WARM_UP);
        if (random.nextInt(3) == 0) {
            service = service.inShapes(List.of(ReplicaShape.of("pair", 2, 1, 20, WARM_UP)));
        }
        if (hasQueues) {
            service = service.in(new QueueId(random.nextBoolean() ? "one" : "other"));
        }
        List<Double> rates = IntStream.range(0, STEPS)
                .mapToObj(step -> needs[step] * PLANNED)
                .toList();
        return new ServiceLoad(service, new Demand.Rates(START, STEP, rates, .002, .05));
    }

    /** Each owns half of the inference pool, and may borrow the rest. */
    private static List<ClusterQueue> queues(int nodes) {
        KindQuota half = KindQuota.of(Optional.empty(), nodes * GPUS_PER_NODE / 2.0);
        return List.of(
                new ClusterQueue(new QueueId("one"), DOMAIN, START, Optional.of("all"), 1, List.of(half)),
                new ClusterQueue(new QueueId("other"), DOMAIN, START, Optional.of("all"), 1, List.of(half)));
    }

    /** It takes all GPUs for longer than demand lasts. */
    private static TrainingTask task(int number) {
        ThroughputParameters speed = new ThroughputParameters(0.05, 0.001, 0.05, 0.002, 0.012, 0.001, 2);
        List<GradientNoise> noise = List.of(new GradientNoise(1, 60));
        BatchRange batch = new BatchRange(512, 4096, 4, 4096, Optional.empty());
        TrainingJob job = new TrainingJob(
                new JobId("job-" + number),
                DOMAIN,
                START.plusSeconds(number),
                "elastic",
                new TrainingJob.Scaling(1, 1, 16, true),
                new TrainingJob.Precedence(0, Optional.empty()),
                new TrainingJob.Traits(
                        batch,
                        new GoodputProfile(speed, noise.get(0)),
                        new RescaleCosts(Duration.ofSeconds(20), Duration.ofSeconds(2))),
                "simulated",
                Optional.empty());
        return new TrainingTask(job, new ModelTruth(speed, noise, batch, 1e7), JobOutcome.FINISHES);
    }

    private static List<ServiceResult> play(Case drawn, boolean lending) {
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, drawn.nodes + 1, GPUS_PER_NODE, 1, drawn.seed);
        return Replay.run(
                        drawn.workload,
                        ReplaySettings.of("lendstream", lending, true, layout)
                                .withoutLog()
                                .until(drawn.workload.demandEnd()))
                .outcome()
                .results()
                .services();
    }

    @Test
    void lendingMakesNoRequestsWaitLongerThanARelease() {
        int within = 0;
        for (long seed = 90_001; within < CASES; seed++) {
            Case drawn = draw(seed);
            if (drawn.isWithinPool()) {
                within++;
                List<ServiceResult> on = play(drawn, true);
                List<ServiceResult> off = play(drawn, false);
                for (int service = 0; service < on.size(); service++) {
                    waitsNoLonger(drawn, on.get(service), off.get(service));
                }
            }
        }
    }

    /** Requests are answered in the order of arrival, so the quantiles of waits tell. */
    private static void waitsNoLonger(Case drawn, ServiceResult on, ServiceResult off) {
        for (double share : new double[] {.5, .9, .99, .999, 1}) {
            assertThat(on.overheadSeconds().quantile(share))
                    .as("wait at %s of %s, seed %d", share, on.service(), drawn.seed)
                    .isLessThanOrEqualTo(off.overheadSeconds().quantile(share) + RELEASE_SECONDS);
        }
        assertThat(on.unanswered()).isLessThanOrEqualTo(off.unanswered() + PLANNED * RELEASE_SECONDS);
    }
}
