package io.lendstream.simulator.replay;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.replay.Outages.Outage;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.JobOutcome;
import io.lendstream.simulator.workload.ModelTruth;
import io.lendstream.simulator.workload.Request;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * A small cluster with jobs and services drawn by a seed. Its training nodes alone have room for every job, and its
 * inference nodes for a replica of every service. In two cases of three transfers go wrong: tenants leave late or not
 * at all, and do not come up; an operator resets what is quarantined of it.
 */
record RandomCase(
        String policy,
        long seed,
        Workload workload,
        SimulatedNodes.Layout layout,
        boolean lending,
        boolean afe,
        List<Outage> outages,
        SimulatedDelays delays) {
    static final DomainId DOMAIN = new DomainId("random");
    /** What a driver can do where a device plugin picks the GPUs of a node. */
    static final Abilities PICKED = Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NODE);

    private static final Instant START = Workload.EPOCH;
    private static final Duration RESET_AFTER = Duration.ofMinutes(10);

    static RandomCase of(String policy, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int nodes = 2 + random.nextInt(4);
        int gpusPerNode = 1 + random.nextInt(4);
        int training = 1 + random.nextInt(nodes - 1);
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, nodes, gpusPerNode, training, seed);
        List<TrainingTask> tasks = new ArrayList<>();
        int jobs = 1 + random.nextInt(6);
        for (int i = 0; i < jobs; i++) {
            tasks.add(task(random, i, training * gpusPerNode));
        }
        List<ServiceLoad> loads = new ArrayList<>();
        int services = random.nextInt(1 + Math.min(2, (nodes - training) * gpusPerNode));
        for (int i = 0; i < services; i++) {
            loads.add(random.nextBoolean() ? rates(random, i) : requests(random, i));
        }
        return new RandomCase(
                policy,
                seed,
                new Workload("random", START, tasks, loads),
                layout,
                random.nextInt(4) > 0,
                random.nextBoolean(),
                outages(random, nodes),
                delays(random));
    }

    int gpus() {
        return layout.nodes() * layout.gpusPerNode();
    }

    ReplaySettings settings() {
        return ReplaySettings.of(policy, lending, afe, layout)
                .withOutages(Outages.of(outages))
                .withDelays(delays)
                .withResets(RESET_AFTER);
    }

    private static TrainingTask task(SplittableRandom random, int number, int room) {
        boolean elastic = random.nextInt(3) > 0;
        int asked = 1 + random.nextInt(Math.min(4, room));
        int least = elastic ? 1 + random.nextInt(asked) : asked;
        int most = elastic ? asked + random.nextInt(8) : asked;
        int initial = 32 * most;
        BatchRange batch = elastic
                ? new BatchRange(initial, 8 * initial, 4, 8 * initial, Optional.empty())
                : new BatchRange(asked, asked, 1, 1, Optional.of(asked));
        ThroughputParameters speed = elastic
                ? new ThroughputParameters(0.05, 0.001, 0.05, 0.002, 0.012, 0.001, 2)
                : new ThroughputParameters(1, 0, 0, 0, 0, 0, 1);
        List<GradientNoise> noise = List.of(new GradientNoise(1, 5 + random.nextInt(100)), new GradientNoise(1, 60));
        TrainingJob job = new TrainingJob(
                new JobId("job-" + number),
                DOMAIN,
                START.plusMillis(random.nextInt(600_000)),
                elastic ? "elastic" : "rigid",
                new TrainingJob.Scaling(asked, least, most, elastic),
                new TrainingJob.Precedence(random.nextInt(2), Optional.empty()),
                new TrainingJob.Traits(
                        batch,
                        new GoodputProfile(speed, noise.get(0)),
                        new RescaleCosts(
                                Duration.ofSeconds(5 + random.nextInt(60)), Duration.ofSeconds(1 + random.nextInt(4)))),
                "simulated",
                Optional.empty());
        double work = elastic ? 200 + random.nextInt(4000) : 60 + random.nextInt(1200);
        JobPhase end =
                random.nextInt(5) > 0 ? JobPhase.FINISHED : random.nextBoolean() ? JobPhase.FAILED : JobPhase.CANCELLED;
        Optional<Double> crash =
                random.nextInt(5) > 0 ? Optional.empty() : Optional.of(0.05 + 0.9 * random.nextDouble());
        return new TrainingTask(job, new ModelTruth(speed, noise, batch, work), new JobOutcome(end, crash));
    }

    private static ServiceLoad rates(SplittableRandom random, int number) {
        List<Double> demand = new ArrayList<>();
        for (int minute = 0; minute < 15; minute++) {
            demand.add(minute / 5 % 2 == 0 ? 4.0 : (double) random.nextInt(40));
        }
        return new ServiceLoad(
                service(random, "fluid-" + number, 20, Optional.empty()),
                new Demand.Rates(START, Duration.ofMinutes(1), demand, .002, .05));
    }

    private static ServiceLoad requests(SplittableRandom random, int number) {
        List<Request> requests = new ArrayList<>();
        Instant at = START;
        int count = random.nextInt(20);
        for (int i = 0; i < count; i++) {
            at = at.plusMillis(random.nextInt(60_000));
            requests.add(new Request("r%d-%d".formatted(number, i), at, Duration.ofSeconds(1 + random.nextInt(90))));
        }
        return new ServiceLoad(
                service(random, "single-" + number, .1, Optional.of(1)), new Demand.Requests(requests, START));
    }

    private static InferenceService service(
            SplittableRandom random, String name, double capacity, Optional<Integer> concurrency) {
        return new InferenceService(
                new ServiceId(name),
                DOMAIN,
                START,
                List.of(name),
                Duration.ofSeconds(15),
                capacity,
                concurrency,
                random.nextInt(2),
                Duration.ofSeconds(4 + random.nextInt(20)));
    }

    /** Nodes are lost one after the other and, now and then, at once. */
    private static List<Outage> outages(SplittableRandom random, int nodes) {
        List<Outage> outages = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            Instant at = START.plusSeconds(30);
            for (int count = random.nextInt(5) - 2; count > 0; count--) {
                Instant from = at.plusMillis(random.nextInt(1_200_000));
                at = from.plusMillis(61_000 + random.nextInt(900_000));
                outages.add(new Outage(new NodeId("node-%02d".formatted(node)), from, at));
            }
        }
        return outages;
    }

    /**
     * Where transfers go wrong, up to a fifth of them fail or hang, and a tenant may take longer to leave than its
     * notice.
     */
    private static SimulatedDelays delays(SplittableRandom random) {
        if (random.nextInt(3) == 0) {
            return SimulatedDelays.realistic();
        }
        double share = 0.05 + 0.15 * random.nextDouble();
        return new SimulatedDelays(
                Duration.ofSeconds(1 + random.nextInt(40)),
                Duration.ofSeconds(4 + random.nextInt(40)),
                Duration.ofSeconds(3 + random.nextInt(10)),
                Duration.ofSeconds(2 + random.nextInt(40)),
                true,
                0.5,
                new SimulatedDelays.FailureRates(share, share, 0),
                random.nextLong());
    }

    @Override
    public String toString() {
        return "RandomCase.of(\"%s\", %dL): %s, lending %s, AFE %s, %d jobs, %d services, %s, %s"
                .formatted(
                        policy,
                        seed,
                        layout,
                        lending,
                        afe,
                        workload.tasks().size(),
                        workload.loads().size(),
                        outages,
                        delays);
    }
}
