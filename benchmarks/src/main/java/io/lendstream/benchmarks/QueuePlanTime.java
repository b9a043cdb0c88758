package io.lendstream.benchmarks;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.simulated.ChangeTiming;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.LogPosition;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueueState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The time of a scheduler's step with a plan of {@code deepboot}: 10,000 GPUs and 2,000 jobs, of one kind or of four,
 * with and without 20 queues; {@code speeds4}: the jobs declare their speeds on four kinds. Unlike {@link PlanTime} it
 * has the views, the shares of queues, quotas and decisions too. Most jobs hold GPUs, some queues more than their
 * nominal quota, and the plan changes most jobs. {@code later}: the plan a minute after that one was carried out, which
 * changes next to none.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class QueuePlanTime {
    static final int GPUS = 10_000;
    private static final int JOBS = 2000;
    private static final int QUEUES = 20;
    private static final int GPUS_PER_NODE = 8;
    private static final String LATER = "_later";
    private static final List<String> PRODUCTS =
            List.of("NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA L40S", "NVIDIA L4");
    private static final DomainId DOMAIN = new DomainId("bench");
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

    @Param({
        "kind1",
        "kind1_queues20",
        "kinds4",
        "kinds4_queues20",
        "speeds4_queues20",
        "kind1_queues20_later",
        "speeds4_queues20_later"
    })
    public String cluster = "kind1";

    private final Scheduler scheduler =
            new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("kinds", "true")));
    private ClusterState state = ClusterState.empty(DOMAIN);

    @Setup
    public void prepare() {
        boolean hasSpeeds = cluster.startsWith("speeds4");
        boolean hasKinds = hasSpeeds || cluster.startsWith("kinds4");
        boolean hasQueues = cluster.contains("queues20");
        state = new ClusterState(
                DOMAIN,
                new LogPosition(NOW, 1, 1, 1),
                Optional.of(NOW),
                new ClusterState.Mode(false, false, false),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                List.of(),
                entities(hasKinds ? PRODUCTS : PRODUCTS.subList(0, 1), hasQueues ? QUEUES : 0, hasSpeeds));
        if (cluster.endsWith(LATER)) {
            carryOut();
        }
    }

    /**
     * The state a minute after a plan, whose changes an actuator has made at once. Prints how long the steps of its
     * reports took, in a cold JVM.
     */
    private void carryOut() {
        Actuation actuation =
                new Actuation("bench", Duration.ofSeconds(45), new SimulatedDriver(change -> ChangeTiming.AT_ONCE));
        state.nodes().values().forEach(node -> actuation.know(node.node()));
        state.jobs().values().forEach(job -> actuation.know(job.spec()));
        Deque<Event> events = new ArrayDeque<>(List.of(new Tick(DOMAIN, NOW)));
        List<Double> times = new ArrayList<>();
        while (!events.isEmpty()) {
            long start = System.nanoTime();
            Step step = step(NOW, events.remove());
            times.add((System.nanoTime() - start) / 1e6);
            state = step.state();
            step.decisions().forEach(decision -> events.addAll(actuation.take(decision, NOW)));
            events.addAll(actuation.advance(NOW));
        }
        List<Double> reports = times.subList(1, times.size()).stream().sorted().toList();
        System.out.printf(
                "%s: the first plan is carried out with %d reports, a step of %.3f ms in the median and %.3f ms at p99%n",
                inWords(cluster.replace(LATER, "")),
                reports.size(),
                reports.get(reports.size() / 2),
                reports.get(reports.size() * 99 / 100));
    }

    private Step step(Instant at, Event event) {
        return scheduler.step(
                state, new DomainEvent(DOMAIN, 1, state.eventSequence() + 1, at, Optional.empty(), event));
    }

    /** A cluster for readers, such as {@code four kinds in 20 queues}. */
    static String inWords(String cluster) {
        String kinds;
        if (cluster.startsWith("speeds4")) {
            kinds = "four kinds whose speeds jobs declare";
        } else {
            kinds = cluster.startsWith("kinds4") ? "four kinds" : "one kind";
        }
        String queues = cluster.contains("queues20") ? kinds + " in 20 queues" : kinds;
        return cluster.endsWith(LATER) ? queues + ", a minute later" : queues;
    }

    /** A plan and its decisions. */
    @Benchmark
    public Step plan() {
        Instant at = cluster.endsWith(LATER) ? NOW.plusSeconds(60) : NOW;
        return step(at, new Tick(DOMAIN, at));
    }

    private static ClusterEntities entities(List<String> products, int queues, boolean speeds) {
        PersistentMap<NodeId, NodeState> nodes = PersistentMap.empty();
        PersistentMap<GpuId, GpuState> gpus = PersistentMap.empty();
        List<List<GpuId>> free = new ArrayList<>();
        products.forEach(product -> free.add(new ArrayList<>()));
        for (int n = 0; n < GPUS / GPUS_PER_NODE; n++) {
            Node node = node(n, products.get(n % products.size()));
            nodes = nodes.put(node.nodeId(), NodeState.of(node));
            for (Gpu gpu : node.gpus()) {
                free.get(n % products.size()).add(gpu.gpuId());
                GpuState unit = GpuState.free(gpu.gpuId(), node.nodeId(), Pool.TRAINING, Optional.empty(), NOW, 1);
                gpus = gpus.put(gpu.gpuId(), unit.of(Optional.of(GpuKinds.PLAIN.of(gpu))));
            }
        }
        SplittableRandom random = new SplittableRandom(1);
        PersistentMap<JobId, JobState> jobs = PersistentMap.empty();
        for (int j = 0; j < JOBS; j++) {
            List<GpuId> some = free.get(j % free.size());
            int size = Math.min(some.size(), 1 << random.nextInt(4));
            List<GpuId> held = List.copyOf(some.subList(0, size));
            some.subList(0, size).clear();
            JobState job = job(j, random, queues, held, speeds ? speeds(j) : KindNeeds.ANY);
            jobs = jobs.put(job.spec().job(), job);
            for (GpuId unit : held) {
                gpus = gpus.put(
                        unit,
                        gpus.require(unit).with(new Owner.Training(job.spec().job()), NOW, 1));
            }
        }
        return new ClusterEntities(nodes, gpus, PersistentMap.empty(), jobs, declared(queues), PersistentMap.empty());
    }

    private static Node node(int number, String product) {
        NodeId name = new NodeId("node-%04d".formatted(number));
        List<Gpu> units = new ArrayList<>();
        for (int i = 0; i < GPUS_PER_NODE; i++) {
            units.add(Gpu.whole(new GpuId("%s-g%d".formatted(name, i)), i, product, 80L << 30));
        }
        return new Node(name, DOMAIN, Pool.TRAINING, "boot", NOW, NodeStatus.READY, units);
    }

    private static PersistentMap<QueueId, QueueState> declared(int queues) {
        PersistentMap<QueueId, QueueState> declared = PersistentMap.empty();
        for (int q = 0; q < queues; q++) {
            declared = declared.put(queue(q), QueueState.of(declaration(q, queues)));
        }
        return declared;
    }

    private static QueueId queue(int number) {
        return new QueueId("queue-%02d".formatted(number));
    }

    private static ClusterQueue declaration(int number, int queues) {
        return new ClusterQueue(
                queue(number),
                DOMAIN,
                NOW,
                Optional.of("all"),
                1 + number % 3,
                List.of(KindQuota.of(Optional.empty(), (double) GPUS / queues)));
    }

    /** A job is faster on each next kind by a ratio of its own, so that the policy chooses kinds. */
    private static KindNeeds speeds(int job) {
        List<KindId> kinds = new ArrayList<>();
        for (String product : PRODUCTS) {
            kinds.add(GpuKinds.PLAIN.of(node(0, product).gpus().get(0)));
        }
        List<KindTraits> traits = new ArrayList<>();
        for (int k = 1; k < kinds.size(); k++) {
            double factor = Math.pow(1 + (job * 7 % 8) / 8.0, k);
            traits.add(KindTraits.of(kinds.get(k), new KindRatio(factor, 0.1)));
        }
        return new KindNeeds(List.of(), Optional.of(kinds.get(0)), Optional.empty(), traits);
    }

    private static JobState job(int number, SplittableRandom random, int queues, List<GpuId> held, KindNeeds kinds) {
        TrainingJob job = new TrainingJob(
                new JobId("job-%05d".formatted(number)),
                DOMAIN,
                NOW.minusSeconds(random.nextInt(1000, 20_000)),
                "bench",
                new TrainingJob.Scaling(4, 1, 64, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(128, 4096, 32, 1024, Optional.empty()),
                        new GoodputProfile(
                                new ThroughputParameters(
                                        random.nextDouble(0.01, 0.1),
                                        random.nextDouble(0.0001, 0.001),
                                        random.nextDouble(0.02, 0.2),
                                        random.nextDouble(0.001, 0.01),
                                        random.nextDouble(0.01, 0.1),
                                        random.nextDouble(0.001, 0.005),
                                        random.nextDouble(1, 3)),
                                new GradientNoise(1, random.nextDouble(1, 50))),
                        new RescaleCosts(Duration.ofSeconds(30), Duration.ofSeconds(3))),
                "simulated",
                Optional.empty());
        TrainingJob onKinds = job.onKinds(kinds);
        JobState state = JobState.of(queues > 0 ? onKinds.in(queue(number % queues)) : onKinds, 1);
        if (held.isEmpty()) {
            return state;
        }
        return state.allocated(
                        new Allocation(held, 64, 0, 1, Mechanism.RESTART),
                        Optional.empty(),
                        new DecisionId(DOMAIN, 1, 1),
                        NOW,
                        NOW.minusSeconds(900))
                .aiming(held)
                .settled(Optional.empty());
    }
}
