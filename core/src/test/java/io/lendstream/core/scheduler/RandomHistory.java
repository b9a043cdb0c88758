package io.lendstream.core.scheduler;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * What may happen to a domain, drawn at random: any policy, whole GPUs or such that are cut, services that batch, jobs
 * of all kinds, advice and approvals, a backlog, nodes that fall silent, faults, orders, ticks that come late, and an
 * actuator that is slow, refuses, says things twice, or says nothing.
 */
final class RandomHistory {
    private static final List<String> SERVICES = List.of("chat", "search", "vision", "embed", "speech");
    /** Memory of products that have less than 80 GiB. */
    private static final Map<String, Integer> MEMORY_GIB = Map.of("Tesla T4", 16, "NVIDIA L4", 24);

    private final Random random;
    private final List<String> products;
    private final List<QueueId> queues;
    private final Scheduler scheduler;
    private final Scenario story;
    private final Deque<ActuationReport> reports = new ArrayDeque<>();
    private final List<String> services;
    private final List<String> nodes = new ArrayList<>();
    private final boolean advised;
    private final boolean batches;
    private final boolean samples;
    /** What GPUs of the node "cut" are really cut into. */
    private final String[] cuts;

    /** Whether jobs exclude kinds and declare their speed on others. */
    private final boolean needs;

    /** Whether jobs have shapes, and nodes racks. */
    private final boolean shapes;

    /** Whether services have replicas of several units; then their units are reported one by one. */
    private final boolean groups;

    /** Whether nodes report hosts, and jobs need some of them and can be paused. */
    private boolean hosts;

    /** Whether most jobs are gangs; then their units are reported one by one. */
    private boolean gangs;

    /** Whether operators order levels of trust; then most commands do. */
    private boolean trusts;

    /** Whether these replicas have roles. */
    private boolean roles;

    /** Whether services and queues are deleted and declared again. */
    private boolean removes;

    private int jobs;

    private RandomHistory(
            long seed, ClusterModel model, List<String> products, boolean needs, List<QueueId> queues, boolean shapes) {
        this(seed, model, products, needs, queues, shapes, false);
    }

    private RandomHistory(
            long seed,
            ClusterModel model,
            List<String> products,
            boolean needs,
            List<QueueId> queues,
            boolean shapes,
            boolean groups) {
        this.groups = groups;
        this.products = products;
        this.needs = needs;
        this.shapes = shapes;
        this.queues = queues;
        random = new Random(seed);
        boolean repartitions = random.nextInt(3) == 0;
        advised = random.nextInt(4) == 0;
        batches = random.nextInt(3) == 0;
        samples = random.nextInt(3) == 0;
        SchedulerSettings settings = SchedulerSettings.DEFAULTS
                .withRepartition(repartitions)
                .withLending(random.nextInt(8) > 0)
                .withPlanPhase(Duration.ofSeconds(random.nextInt(2) * 7L))
                .withModel(model)
                .withWaitingFirst(seed % 2 == 0);
        Optional<java.time.Instant> decidesFrom = random.nextInt(5) == 0
                ? Optional.of(Scenario.START.plusSeconds(random.nextInt(300)))
                : Optional.empty();
        scheduler = new Scheduler(pick(Policies.all()), settings, Slices.LATENCIES, decidesFrom);
        story = new Scenario(scheduler);
        services = SERVICES.subList(0, 1 + random.nextInt(repartitions ? 2 : SERVICES.size()));
        cuts = repartitions
                ? new String[] {"7g.80gb@0", "", "3g.40gb@0 2g.20gb@4"}
                : new String[] {"3g.40gb@0 3g.40gb@4"};
    }

    /** The history of a seed: some hundred events. */
    static RandomHistory of(long seed) {
        return of(seed, ClusterModel.ALIKE, List.of());
    }

    /**
     * The same by a scheduler that may tell kinds apart.
     *
     * @param products of GPUs, drawn for each node; empty for those of {@link #of(long)}
     */
    static RandomHistory of(long seed, ClusterModel model, List<String> products) {
        return of(seed, model, products, List.of());
    }

    /** The same with jobs that declare nothing about kinds. */
    static RandomHistory withoutNeeds(long seed, ClusterModel model, List<String> products) {
        return new RandomHistory(seed, model, products, false, List.of(), false).told();
    }

    /** The same where most jobs and services name one of some queues, which are declared again and again. */
    static RandomHistory of(long seed, ClusterModel model, List<String> products, List<QueueId> queues) {
        return new RandomHistory(seed, model, products, products.size() > 1, queues, false).told();
    }

    /** The same where most jobs have a shape, and the racks of nodes change now and then. */
    static RandomHistory shaped(long seed, ClusterModel model, List<String> products, List<QueueId> queues) {
        return new RandomHistory(seed, model, products, products.size() > 1, queues, true).told();
    }

    /** The same where an actuator describes itself, and most services have replicas of several units. */
    static RandomHistory grouped(long seed, ClusterModel model, List<String> products, List<QueueId> queues) {
        RandomHistory history = new RandomHistory(seed, model, products, false, queues, false, true);
        history.story.actuator("one", Abilities.USUAL);
        return history.told();
    }

    /** The same where most jobs are gangs, and some of them have a shape. */
    static RandomHistory ofGangs(long seed, ClusterModel model, List<String> products, List<QueueId> queues) {
        RandomHistory history = new RandomHistory(seed, model, products, false, queues, seed % 4 == 0);
        history.gangs = true;
        return history.told();
    }

    /** The same where operators order levels of trust. */
    static RandomHistory trusted(long seed, List<QueueId> queues) {
        RandomHistory history = new RandomHistory(seed, ClusterModel.ALIKE, List.of(), false, queues, false);
        history.trusts = true;
        history.story.trust(TrustLevel.SHARE, false);
        return history.told();
    }

    /** The same where each request needs replicas of two roles. */
    static RandomHistory inRoles(long seed, ClusterModel model, List<String> products, List<QueueId> queues) {
        RandomHistory history = new RandomHistory(seed, model, products, false, queues, false, true);
        history.roles = true;
        history.story.actuator("one", Abilities.USUAL);
        return history.told();
    }

    /** The same where one actuator describes itself at the beginning. */
    static RandomHistory of(long seed, Abilities abilities) {
        RandomHistory history = new RandomHistory(seed, ClusterModel.ALIKE, List.of(), false, List.of(), false);
        history.story.actuator("one", abilities);
        return history.told();
    }

    /** The same where nodes report their hosts, jobs need some of them, and jobs can be paused. */
    static RandomHistory hosted(long seed) {
        RandomHistory history = new RandomHistory(seed, ClusterModel.ALIKE, List.of(), false, List.of(), false);
        history.hosts = true;
        history.story.actuator("one", Abilities.USUAL.withSuspend(seed % 4 > 0));
        return history.told();
    }

    /** The same where services and queues are deleted and declared again. */
    static RandomHistory withRemovals(long seed, List<String> products, List<QueueId> queues, boolean groups) {
        ClusterModel model = products.isEmpty() ? ClusterModel.ALIKE : ClusterModel.KINDS;
        RandomHistory history = new RandomHistory(seed, model, products, false, queues, false, groups);
        history.removes = true;
        if (groups) {
            history.story.actuator("one", Abilities.USUAL);
        }
        return history.told();
    }

    private RandomHistory told() {
        begin();
        for (int i = 0; i < 120; i++) {
            happen();
        }
        return this;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    List<Decision> decisions() {
        return story.decisions();
    }

    List<DomainEvent> log() {
        return story.log();
    }

    /**
     * How many rounds of changes follow at one time, if each is carried out at once and nothing else happens; at most
     * one more than a number.
     */
    int roundsToRest(int most) {
        int rounds = 0;
        int answered = story.decisions().size();
        story.tell(new Tick(Scenario.DOMAIN, story.now()));
        while (story.decisions().size() > answered && rounds <= most) {
            List<Decision> round = story
                    .decisions()
                    .subList(answered, story.decisions().size())
                    .stream()
                    .filter(decision ->
                            !decision.advisory() && !decision.action().kind().equals("hold"))
                    .toList();
            answered = story.decisions().size();
            rounds += round.isEmpty() ? 0 : 1;
            for (Decision decision : round) {
                story.answers(decision).forEach(this::deliver);
            }
            story.tell(new Tick(Scenario.DOMAIN, story.now()));
        }
        return rounds;
    }

    private void begin() {
        for (int i = 0; i < 1 + random.nextInt(3); i++) {
            nodes.add("train-" + i);
            node("train-" + i, Pool.TRAINING, "test GPU");
            nodes.add("infer-" + i);
            node("infer-" + i, Pool.INFERENCE, "NVIDIA A100-SXM4-80GB");
        }
        if (scheduler.settings().repartition() || random.nextInt(3) == 0) {
            story.migNode("cut", Pool.INFERENCE, cuts);
        }
        queues.stream().filter(queue -> random.nextInt(4) > 0).forEach(this::declare);
        services.forEach(this::service);
        queue(0);
    }

    private void node(String name, Pool pool, String usual) {
        int gpus = 1 + random.nextInt(4);
        String product = products.isEmpty() ? usual : pick(products);
        story.node(name, pool, gpus, product, MEMORY_GIB.getOrDefault(product, 80));
        if (shapes) {
            story.rack(name, "rack-" + random.nextInt(2));
        }
        if (hosts && random.nextInt(5) > 0) {
            host(name);
        }
    }

    private void host(String name) {
        story.host(name, 4 + random.nextInt(29), 16 + random.nextInt(200));
    }

    /** A host changes, a node leaves and comes back, or the owner of a job declares it again. */
    private void changeHost() {
        String name = pick(nodes);
        int dice = random.nextInt(4);
        if (dice == 0) {
            story.tell(new NodeLeft(new NodeId(name), Scenario.DOMAIN, story.now()));
            node(name, name.startsWith("train") ? Pool.TRAINING : Pool.INFERENCE, "test GPU");
        } else if (dice == 1 && story.state().nodes().contains(new NodeId(name))) {
            host(name);
        } else if (jobs > 0) {
            story.state()
                    .jobs()
                    .get(new JobId("job-" + random.nextInt(jobs)))
                    .filter(job -> !job.isOver())
                    .ifPresent(job -> story.tell(job.spec().needing(drawnNeed())));
        }
    }

    /** A node leaves and comes back, a service declares other shapes, or the actuator can do other things. */
    private void changeGroups() {
        switch (random.nextInt(3)) {
            case 0 -> {
                String name = pick(nodes);
                story.tell(new NodeLeft(new NodeId(name), Scenario.DOMAIN, story.now()));
                node(name, name.startsWith("train") ? Pool.TRAINING : Pool.INFERENCE, "test GPU");
            }
            case 1 -> service(pick(services));
            default ->
                story.actuator(
                        "one",
                        switch (random.nextInt(3)) {
                            case 0 -> Abilities.USUAL;
                            case 1 -> Abilities.USUAL.withGranularity(Granularity.NODE);
                            default -> Abilities.USUAL.withSpansNodes(false);
                        });
        }
    }

    private HostNeed drawnNeed() {
        return switch (random.nextInt(4)) {
            case 0 -> HostNeed.USUAL;
            case 1 -> HostNeed.of(500 + random.nextInt(8000), (1L + random.nextInt(40)) << 30);
            case 2 -> new HostNeed(Optional.of(500L + random.nextInt(16_000)), Optional.empty());
            default -> new HostNeed(Optional.empty(), Optional.of((1L + random.nextInt(90)) << 30));
        };
    }

    private TrainingJob hosted(TrainingJob job) {
        if (!hosts) {
            return job;
        }
        TrainingJob needing = job.needing(drawnNeed());
        PauseCosts costs = new PauseCosts(
                Duration.ofSeconds(1 + random.nextInt(60)),
                Duration.ofSeconds(2),
                Duration.ofSeconds(10),
                (long) random.nextInt(60) << 30);
        return random.nextInt(4) == 0
                ? needing
                : needing.costing(needing.traits().costs().pausing(costs));
    }

    /** A service; where GPUs differ, it may need more memory than some of them have. */
    private void service(String name) {
        int floor = random.nextInt(2);
        InferenceService service = story.serviceRecord(name, floor);
        if (groups && random.nextInt(4) > 0) {
            InferenceService inShapes = roles ? inRoles(service) : service.inShapes(drawnShapes());
            story.tell(isQueued() ? inShapes.in(pick(queues)) : inShapes);
            return;
        }
        boolean isSmall = products.isEmpty() || scheduler.settings().repartition() || random.nextBoolean();
        InferenceService sized = isSmall ? service : service.onSlicesOf(20L << 30);
        InferenceService onKinds = needs && random.nextBoolean() ? sized.onKinds(drawnCapacities()) : sized;
        story.tell(isQueued() ? onKinds.in(pick(queues)) : onKinds);
    }

    private InferenceService inRoles(InferenceService service) {
        List<ReplicaShape> shapes = new ArrayList<>();
        for (ReplicaRole role : List.of(ReplicaRole.PREFILL, ReplicaRole.DECODE)) {
            int gpus = 1 + random.nextInt(2);
            double perSecond = 3 + random.nextInt(8);
            shapes.add(ReplicaShape.of(role.inWords(), gpus, 1, perSecond, Duration.ofSeconds(8))
                    .as(role));
        }
        return service.inShapes(shapes).withFloors(List.of(new RoleFloor(ReplicaRole.DECODE, random.nextInt(3))));
    }

    private List<ReplicaShape> drawnShapes() {
        List<ReplicaShape> shapes = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(2); i++) {
            int gpus = 1 + random.nextInt(3);
            int wide = random.nextInt(4) == 0 ? 2 : 1;
            shapes.add(ReplicaShape.of("shape-" + i, gpus, wide, 5.0 * gpus * wide, Duration.ofSeconds(8)));
        }
        return shapes;
    }

    /** Never drawn where there are no queues, so that the other histories stay the same. */
    private boolean isQueued() {
        return !queues.isEmpty() && random.nextInt(5) > 0;
    }

    private void declare(QueueId queue) {
        List<KindQuota> quotas = new ArrayList<>();
        int form = scheduler.settings().model().kinds() ? random.nextInt(4) : 0;
        if (form < 3) {
            quotas.add(new KindQuota(Optional.empty(), random.nextInt(6), limit(), limit()));
        }
        if (form > 1) {
            Optional<KindId> kind = Optional.of(new KindId("A100-SXM4-80GB"));
            quotas.add(new KindQuota(kind, random.nextInt(6), limit(), limit()));
        }
        Optional<String> cohort = random.nextInt(3) == 0 ? Optional.empty() : Optional.of("all");
        ClusterQueue declared =
                new ClusterQueue(queue, Scenario.DOMAIN, story.now(), cohort, 1 + random.nextInt(3), quotas);
        story.tell(declared.preempting(
                random.nextBoolean() ? Preemption.NEVER : Preemption.LOWER_PRIORITY,
                random.nextInt(4) == 0 ? Preemption.LOWER_PRIORITY : Preemption.ANY));
    }

    private Optional<Double> limit() {
        return random.nextBoolean() ? Optional.empty() : Optional.of((double) random.nextInt(4));
    }

    private void happen() {
        int answered = story.decisions().size();
        int dice = random.nextInt(100);
        if (!queues.isEmpty() && random.nextInt(15) == 0) {
            declare(pick(queues));
        } else if (removes && random.nextInt(10) == 0) {
            removeOrDeclare();
        } else if (shapes && random.nextInt(25) == 0) {
            story.rack(pick(nodes), "rack-" + random.nextInt(2));
        } else if (hosts && random.nextInt(12) == 0) {
            changeHost();
        } else if (groups && random.nextInt(15) == 0) {
            changeGroups();
        } else if (advised && random.nextInt(5) == 0) {
            adviseOrApprove();
        } else if (dice < 35) {
            rates();
        } else if (dice < 45) {
            submit();
        } else if (dice < 60 && jobs > 0) {
            progress();
        } else if (dice < 68) {
            story.forecast(pick(services), random.nextInt(80 / services.size()));
        } else if (dice < 70 && samples) {
            story.sample(pick(nodes), Optional.of(random.nextInt(4) == 0 ? 79 : 13));
        } else if (dice < 76) {
            command();
        } else if (dice < 78) {
            story.migNode("cut", Pool.INFERENCE, cuts);
        } else {
            pass();
        }
        queue(answered);
        for (int n = random.nextInt(5); n > 0 && !reports.isEmpty(); n--) {
            answered = story.decisions().size();
            deliver(reports.removeFirst());
            queue(answered);
        }
    }

    /** Removals come twice too, and for names that are not declared. */
    private void removeOrDeclare() {
        boolean isRemoved = random.nextInt(3) > 0;
        if (!queues.isEmpty() && random.nextInt(3) == 0) {
            QueueId queue = pick(queues);
            declare(queue);
            if (isRemoved) {
                story.tell(new ClusterQueue(queue, Scenario.DOMAIN, story.now(), Optional.empty(), 1, List.of())
                        .removedAt(story.now()));
            }
        } else if (isRemoved) {
            story.tell(story.serviceRecord(pick(services), 1).removedAt(story.now()));
        } else {
            service(pick(services));
        }
    }

    private void pass() {
        Duration time = Duration.ofMillis(random.nextInt(random.nextInt(20) == 0 ? 900_000 : 45_000));
        if (random.nextInt(5) == 0) {
            story.withoutTicks(time);
        } else {
            story.after(time);
        }
        if (samples && random.nextInt(10) > 0) {
            nodes.forEach(node -> story.sample(node, Optional.empty()));
        }
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private void rates() {
        boolean isLone = random.nextInt(3) == 0;
        for (String service : isLone ? List.of(pick(services)) : services) {
            int most = scheduler.settings().repartition() ? 900 : 60 / services.size();
            double perSecond = random.nextInt(most);
            if (batches) {
                double slower = 1 + random.nextInt(3) * .2;
                List<BatchTimes> times = IntStream.of(1, 8, 32, 64)
                        .mapToObj(batch -> new BatchTimes(Optional.empty(), batch, 0, 30, slower * (20 + 5 * batch)))
                        .toList();
                story.served(service, perSecond, .1 + .1 * random.nextInt(6), times);
            } else {
                story.rate(service, perSecond);
            }
        }
    }

    private void submit() {
        String name = "job-" + jobs++;
        if (needs && random.nextInt(2) == 0) {
            TrainingJob fussy =
                    story.jobRecord(name, 1 + random.nextInt(8), true).onKinds(drawnNeeds());
            tell(shapes && random.nextBoolean() ? fussy.shaped(drawnShape()) : fussy);
            return;
        }
        TrainingJob job = switch (random.nextInt(4)) {
            case 0, 1 -> story.jobRecord(name, 1 + random.nextInt(3), true).onSlicesOf((1L + random.nextInt(40)) << 30);
            case 2 -> story.jobRecord(name, 1 + random.nextInt(8), true);
            default -> story.jobRecord(name, 1 + random.nextInt(5), false);
        };
        tell(shapes && random.nextInt(4) > 0 ? job.shaped(drawnShape()) : job);
    }

    private JobShape drawnShape() {
        List<Integer> sizes = new ArrayList<>();
        for (int n = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 0; n > 0; n--) {
            sizes.add(1 + random.nextInt(6));
        }
        JobShape shape = new JobShape(
                sizes, random.nextInt(3) == 0 ? 2 + random.nextInt(2) : 1, random.nextInt(4) == 0, Optional.empty());
        TopologyLevel level = random.nextBoolean() ? TopologyLevel.NODE : TopologyLevel.RACK;
        return random.nextBoolean() ? shape.within(level, random.nextInt(3) > 0) : shape;
    }

    /** Submits a job; where there are queues, it may be in one, and may have a hard deadline. */
    private void tell(TrainingJob job) {
        TrainingJob gang =
                gangs && random.nextInt(4) > 0 ? job.shaped(job.shape().together()) : job;
        TrainingJob queued = hosted(queued(gang));
        if (queues.isEmpty() || random.nextInt(3) > 0) {
            story.tell(queued);
            return;
        }
        story.tell(queued.due(story.now().plusSeconds(60L * (1 + random.nextInt(20))), DeadlineKind.HARD));
        if (random.nextInt(4) > 0) {
            story.tell(new TrainingProgress(
                    job.job(),
                    Scenario.DOMAIN,
                    story.now(),
                    JobPhase.QUEUED,
                    0,
                    Optional.of(1.0 + random.nextInt(2000)),
                    TrainingProgress.Parallelism.NONE,
                    TrainingProgress.StepTiming.NOT_MEASURED,
                    TrainingProgress.GradientStatistics.NOT_MEASURED));
        }
    }

    /** A job that may name a queue and may have a priority in it. */
    private TrainingJob queued(TrainingJob job) {
        return isQueued()
                ? job.with(new TrainingJob.Precedence(
                        random.nextInt(3) / 2,
                        Optional.empty(),
                        DeadlineKind.SOFT,
                        Optional.of(pick(queues)),
                        Optional.empty()))
                : job;
    }

    private List<KindId> kinds() {
        return products.stream()
                .map(product -> GpuKinds.PLAIN.of(
                        Gpu.whole(new GpuId("any"), 0, product, (long) MEMORY_GIB.getOrDefault(product, 80) << 30)))
                .toList();
    }

    /** Some of the kinds, in any order, on which a replica answers more or less. */
    private List<KindCapacity> drawnCapacities() {
        List<KindId> kinds = new ArrayList<>(kinds());
        Collections.shuffle(kinds, random);
        List<KindCapacity> capacities = new ArrayList<>();
        for (KindId kind : kinds.subList(0, 1 + random.nextInt(kinds.size()))) {
            KindCapacity capacity = switch (random.nextInt(3)) {
                case 0 -> KindCapacity.of(kind, 1 + 20 * random.nextDouble());
                case 1 -> KindCapacity.of(kind, new KindRatio(0.2 + 2 * random.nextDouble(), random.nextDouble() / 2));
                default -> new KindCapacity(kind, Optional.empty(), Optional.empty(), Optional.empty());
            };
            capacities.add(
                    random.nextBoolean() ? capacity : capacity.warmingUpIn(Duration.ofSeconds(random.nextInt(40))));
        }
        return capacities;
    }

    private KindNeeds drawnNeeds() {
        List<KindId> kinds = kinds();
        List<KindTraits> traits = new ArrayList<>();
        for (KindId kind : kinds) {
            if (random.nextBoolean()) {
                traits.add(KindTraits.of(kind, new KindRatio(0.2 + 4 * random.nextDouble(), random.nextDouble() / 2)));
            }
        }
        return new KindNeeds(
                random.nextInt(3) == 0 ? List.of(pick(kinds)) : List.of(),
                random.nextBoolean() ? Optional.of(pick(kinds)) : Optional.empty(),
                random.nextInt(4) == 0 ? Optional.of((long) (1 + random.nextInt(60)) << 30) : Optional.empty(),
                traits);
    }

    private void progress() {
        List<JobState> holding = story.state().jobs().stream()
                .filter(job -> job.gpus() > 0 && !job.isOver())
                .toList();
        String job = holding.isEmpty() || random.nextInt(4) == 0
                ? "job-" + random.nextInt(jobs)
                : pick(holding).spec().job().value();
        story.progress(job, random.nextInt(5) == 0 ? JobPhase.FINISHED : JobPhase.RUNNING);
    }

    private void command() {
        if (trusts && random.nextInt(4) > 0) {
            TrustLevel level = pick(List.of(TrustLevel.values()));
            String[] service = level == TrustLevel.ONE_SERVICE ? new String[] {pick(services)} : new String[0];
            story.trust(level, random.nextInt(4) > 0, service);
            return;
        }
        switch (random.nextInt(5)) {
            case 0 -> story.control(ControlCommand.Kind.FREEZE);
            case 1 -> story.control(ControlCommand.Kind.RECLAIM_ALL);
            case 2 -> reset();
            default -> story.control(ControlCommand.Kind.THAW);
        }
    }

    private void reset() {
        GpuId[] quarantined = story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Quarantined)
                .map(gpu -> gpu.gpuId())
                .toArray(GpuId[]::new);
        reports.removeIf(report -> report.gpus().stream().anyMatch(List.of(quarantined)::contains));
        story.control(ControlCommand.Kind.RESET, quarantined);
    }

    private void adviseOrApprove() {
        List<Decision> decisions = story.decisions();
        if (random.nextInt(5) == 0) {
            story.control(random.nextInt(3) > 0 ? ControlCommand.Kind.ADVISORY_ON : ControlCommand.Kind.ADVISORY_OFF);
        } else if (!decisions.isEmpty()) {
            int late = Math.min(decisions.size(), 1 + random.nextInt(20));
            story.approve(decisions.get(decisions.size() - late).id());
        }
    }

    private void queue(int from) {
        for (Decision decision :
                List.copyOf(story.decisions().subList(from, story.decisions().size()))) {
            if (decision.advisory()) {
                continue;
            }
            List<ActuationReport> answers = new ArrayList<>(story.answers(decision));
            if (random.nextInt(15) == 0) {
                Outcome outcome = random.nextBoolean() ? Outcome.REJECTED : Outcome.FAILED;
                answers = List.of(
                        story.report(decision.id(), outcome, decision.action().gpus(), Optional.empty()));
            }
            for (ActuationReport report : groups || gangs ? apart(answers) : answers) {
                if (random.nextInt(25) > 0) {
                    reports.add(report);
                    if (random.nextInt(20) == 0) {
                        reports.add(report);
                    }
                }
            }
        }
    }

    /** The same reports, each on one unit at most. */
    private static List<ActuationReport> apart(List<ActuationReport> reports) {
        List<ActuationReport> apart = new ArrayList<>();
        for (ActuationReport report : reports) {
            if (report.gpus().size() < 2) {
                apart.add(report);
            }
            for (GpuId gpu : report.gpus().size() < 2 ? List.<GpuId>of() : report.gpus()) {
                apart.add(new ActuationReport(
                        report.domain(),
                        report.decision(),
                        report.actuator(),
                        report.at(),
                        report.outcome(),
                        List.of(gpu),
                        report.tenant(),
                        report.timings(),
                        report.reason()));
            }
        }
        return apart;
    }

    private void deliver(ActuationReport report) {
        story.tell(new ActuationReport(
                report.domain(),
                report.decision(),
                report.actuator(),
                story.now(),
                report.outcome(),
                report.gpus(),
                report.tenant(),
                report.timings(),
                report.reason()));
        if (report.outcome() == Outcome.APPLIED) {
            story.decisions().stream()
                    .filter(decision -> decision.id().equals(report.decision()))
                    .map(Decision::action)
                    .filter(Action.Repartition.class::isInstance)
                    .map(Action.Repartition.class::cast)
                    .findFirst()
                    .ifPresent(this::cut);
        }
    }

    private void cut(Action.Repartition repartition) {
        for (GpuId gpu : repartition.gpus()) {
            int index = gpu.value().charAt(gpu.value().length() - 1) - '0';
            cuts[index] = String.join(" ", repartition.profiles());
        }
        story.migNode("cut", Pool.INFERENCE, cuts);
    }
}
