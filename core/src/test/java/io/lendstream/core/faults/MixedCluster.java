package io.lendstream.core.faults;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.history.FaultyHistories;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ChangeLimits;
import io.lendstream.core.scheduler.ClusterModel;
import io.lendstream.core.scheduler.MeasurementRules;
import io.lendstream.core.scheduler.QuietWindows;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.simulated.DevicePlugin;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * Some minutes of a domain in which everything differs: kinds of GPU, actuators with their nodes and abilities, queues
 * whose quotas change, jobs with needs and shapes. Nodes are lost and come back, schedulers are replaced, actuators
 * fall silent and restart, and messages are delayed, repeated, reordered and lost. Then comes enough quiet time for
 * everything to settle. {@link ClusterTruth} judges it by what really runs.
 */
final class MixedCluster {
    static final DomainId DOMAIN = new DomainId("mixed");
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration NOTICE = Duration.ofSeconds(30);
    private static final int TURNS = 200;
    private static final int QUIET_TURNS = 150;
    private static final int MOST_JOBS = 10;
    /** Turns from one sample of agents to the next. */
    private static final int SAMPLE_EVERY = 4;

    private final Random random;
    private final ClusterBug bug;
    private final FaultProfile weather;
    private final Network network;
    private final MixedWorld world;
    private final ClusterTruth truth;
    private final List<SimActuator> hands = new ArrayList<>();
    private final boolean crashes;
    private final boolean takeOvers;
    private final List<DomainEvent> log = new ArrayList<>();
    private final List<Decision> published = new ArrayList<>();
    private final List<ActuationReport> topic = new ArrayList<>();
    private final Map<GpuId, Lease> leases = new LinkedHashMap<>();
    private final Map<DecisionId, Decision> everDecided = new HashMap<>();
    private final Set<DecisionId> unheard = new HashSet<>();
    private final List<ServiceId> services = new ArrayList<>();
    private final List<JobId> jobs = new ArrayList<>();
    private final Set<JobId> over = new HashSet<>();
    private final Map<Node, Instant> lost = new LinkedHashMap<>();
    private SimScheduler brain;
    private ClusterState known = ClusterState.empty(DOMAIN);
    private Instant downUntil = START;
    private Instant now = START;
    private int rates;
    private int boots = 1;
    private int losses;
    private int turns;
    private long sampled;
    private int sharedChanges;

    MixedCluster(long seed, ClusterBug bug) {
        this.random = new Random(seed);
        this.bug = bug;
        this.weather = FaultProfile.of(random);
        this.network = new Network(random, weather);
        this.world = new MixedWorld(random, START);
        this.truth = new ClusterTruth(world);
        this.crashes = random.nextBoolean();
        this.takeOvers = random.nextInt(3) == 0;
        this.brain = new SimScheduler(scheduler(seed % 2 == 1), bug::step);
        for (ActuatorDescription each : world.actuators()) {
            hands.add(
                    each.abilities().atBind() == UnitChoice.UNIT
                            ? new SimActuator(each.actuator(), NOTICE, random, each.nodes(), each.abilities())
                            : new SimActuator(
                                    each.actuator(),
                                    NOTICE,
                                    random,
                                    each,
                                    new DevicePlugin(new Random(seed), random.nextBoolean())));
        }
        if (hands.isEmpty()) {
            hands.add(new SimActuator("actuator-0", NOTICE, random, Bug.NONE));
        }
    }

    /** @param learns whether start-up times are learned; not drawn, so that other draws stay */
    private Scheduler scheduler(boolean learns) {
        SchedulerSettings usual = SchedulerSettings.DEFAULTS;
        ClusterModel model = ClusterModel.KINDS.with(TopologyLabels.of("", "rack"));
        return new Scheduler(
                Policies.parse(List.of("deepboot", "deepboot:kinds=blind", "lendstream:plan-every=10s", "afs")
                        .get(random.nextInt(4))),
                new SchedulerSettings(
                        true,
                        random.nextBoolean(),
                        NOTICE,
                        Duration.ofSeconds(40),
                        Duration.ofSeconds(130 + random.nextInt(270)),
                        usual.nodeStaleAfter(),
                        new ChangeLimits(
                                random.nextInt(3) > 0 ? 1 : 0.5,
                                usual.changeLimits().maxLoansPerMinute(),
                                random.nextInt(3) > 0 ? 1000 : 2,
                                Duration.ofSeconds(random.nextBoolean() ? 0 : 90),
                                QuietWindows.NONE),
                        false,
                        usual.repartitionEvery(),
                        usual.planPhase(),
                        model,
                        new MeasurementRules(learns, Duration.ofMinutes(learns ? 10 : 0), learns)));
    }

    /** Goes through all of it. */
    MixedCluster endured() {
        begin();
        for (int turn = 0; turn < TURNS; turn++) {
            now = now.plusMillis(random.nextInt(5_000));
            happen();
            misfortune();
            turn();
        }
        network.clear();
        for (int turn = 0; turn < QUIET_TURNS; turn++) {
            now = now.plusSeconds(5);
            bringBack();
            if (turn % 3 == 0) {
                services.forEach(service -> rate(service, 5));
                repair();
            }
            turn();
            if (!now.isBefore(downUntil)) {
                truth.checkClaims(brain.state());
            }
        }
        truth.conclude(brain.state());
        return this;
    }

    private void begin() {
        world.actuators().forEach(this::tell);
        world.nodes().forEach(this::tell);
        world.queues().stream().filter(queue -> random.nextInt(4) > 0).forEach(queue -> tell(world.queue(queue, now)));
        for (String name : List.of("chat", "search", "vision").subList(0, 1 + random.nextInt(3))) {
            services.add(new ServiceId(name));
            tell(world.service(name, now));
        }
    }

    private void turn() {
        network.deliver(now);
        for (SimActuator hand : hands) {
            for (ActuationReport report : hand.work(now)) {
                reported(hand, report);
            }
        }
        network.deliver(now);
        turns++;
        if (turns % SAMPLE_EVERY == 0 && hands.stream().anyMatch(SimActuator::picksUnits)) {
            sample();
        }
        look();
        work();
        truth.judge(brain.state());
    }

    /** Agents show what runs on the units of the actuators that do not choose them. */
    private void sample() {
        for (Node node : world.nodes()) {
            if (lost.containsKey(node)) {
                continue;
            }
            List<GpuSample> samples = new ArrayList<>();
            for (GpuId unit : world.unitsOf(node.nodeId())) {
                samples.add(GpuSample.of(unit).utilization(0.5).build());
            }
            sampled++;
            GpuTelemetry sample = new GpuTelemetry(node.nodeId(), DOMAIN, "boot", sampled, now, samples);
            for (SimActuator hand : hands) {
                sample = hand.shown(sample);
            }
            tell(sample);
        }
    }

    private void look() {
        Map<GpuId, Tenant> running = new TreeMap<>();
        for (SimActuator hand : hands) {
            hand.running().forEach((unit, tenant) -> {
                Tenant other = running.put(unit, tenant);
                if (other != null) {
                    truth.broken("two at once", "%s and %s run on %s".formatted(other, tenant, unit));
                }
            });
            hand.accidents().forEach(accident -> truth.broken("two at once", accident));
        }
        truth.look(running, now);
    }

    /** Something is written that the scheduler and the actuators read. */
    private void tell(Event event) {
        hands.forEach(hand -> hand.know(event));
        brain.hear(event);
    }

    private void happen() {
        switch (random.nextInt(10)) {
            case 0, 1 -> rate(services.get(random.nextInt(services.size())), random.nextInt(isBusy() ? 50 : 8));
            case 3, 4 -> submit();
            case 5 -> progress(random.nextInt(4) == 0 ? JobPhase.FINISHED : JobPhase.RUNNING);
            case 6 -> repair();
            case 7 -> changeQuota();
            default -> services.forEach(service -> rate(service, random.nextInt(isBusy() ? 30 : 4)));
        }
    }

    /** Demand comes in waves, so that units are lent and taken back. */
    private boolean isBusy() {
        return Duration.between(START, now).toMinutes() % 4 == 3;
    }

    private void submit() {
        if (jobs.size() < MOST_JOBS) {
            String name = "job-" + jobs.size();
            jobs.add(new JobId(name));
            tell(world.job(name, now));
        }
    }

    private void changeQuota() {
        if (!world.queues().isEmpty()) {
            tell(world.queue(world.queues().get(random.nextInt(world.queues().size())), now));
        }
    }

    private void rate(ServiceId service, int perSecond) {
        rates++;
        tell(new RequestRate(
                service,
                DOMAIN,
                "gateway",
                "boot",
                rates,
                now.minusSeconds(15),
                now,
                RequestRate.Requests.answered(15L * perSecond),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of()));
    }

    private void progress(JobPhase phase) {
        jobs.stream().filter(job -> !over.contains(job)).findFirst().ifPresent(job -> {
            if (phase == JobPhase.FINISHED) {
                over.add(job);
            }
            tell(new TrainingProgress(
                    job,
                    DOMAIN,
                    now,
                    phase,
                    rates,
                    random.nextBoolean() ? Optional.of(rates + 400.0) : Optional.empty(),
                    TrainingProgress.Parallelism.NONE,
                    TrainingProgress.StepTiming.NOT_MEASURED,
                    TrainingProgress.GradientStatistics.NOT_MEASURED));
        });
    }

    /** An operator resets GPUs that are out of service, after a check that no tenant runs there or is about to. */
    private void repair() {
        if (!network.isQuiet() || hands.stream().anyMatch(hand -> hand.isDown(now))) {
            return;
        }
        List<GpuId> repaired = brain.state().gpus().stream()
                .filter(gpu -> gpu.owner().isQuarantined())
                .filter(gpu ->
                        lost.keySet().stream().noneMatch(node -> node.nodeId().equals(gpu.nodeId())))
                .map(GpuState::gpuId)
                .filter(gpu -> hands.stream().allMatch(hand -> !hand.running().containsKey(gpu) && hand.isRidOf(gpu)))
                .toList();
        if (!repaired.isEmpty()) {
            tell(new ControlCommand(
                    DOMAIN,
                    "reset",
                    now,
                    "operator",
                    ControlCommand.Kind.RESET,
                    Optional.empty(),
                    repaired,
                    "nothing runs there"));
        }
    }

    private void misfortune() {
        for (SimActuator hand : hands) {
            if (crashes && random.nextInt(40) == 0 && !hand.isDown(now)) {
                hand.loseSomeTenant(random).ifPresent(truth::ends);
            }
            if (crashes && random.nextInt(80) == 0 && !hand.isDown(now)) {
                hand.crash(now.plusSeconds(random.nextInt(random.nextInt(4) == 0 ? 400 : 30)));
            }
        }
        if (takeOvers && random.nextInt(40) == 0) {
            brain = brain.successor();
            downUntil = now.plusSeconds(random.nextInt(random.nextInt(5) == 0 ? 300 : 20));
        }
        if (random.nextInt(40) == 0) {
            loseNode(world.nodes().get(random.nextInt(world.nodes().size())));
        }
        bringBack();
    }

    /** A node fails with all that runs on it. It is not ready, or is taken out of the inventory. */
    private void loseNode(Node node) {
        if (lost.containsKey(node)) {
            return;
        }
        losses++;
        lost.put(node, now.plusSeconds(20 + random.nextInt(200)));
        boolean isSeen = random.nextBoolean() && hands.stream().noneMatch(SimActuator::picksUnits);
        List<GpuId> units = world.unitsOf(node.nodeId());
        for (SimActuator hand : hands) {
            units.stream()
                    .flatMap(unit -> Optional.ofNullable(hand.running().get(unit)).stream())
                    .forEach(truth::ends);
            hand.lose(node, units, isSeen);
        }
        if (isSeen) {
            tell(described(node, NodeStatus.UNAVAILABLE));
        } else {
            brain.hear(new NodeLeft(node.nodeId(), DOMAIN, now));
        }
    }

    private void bringBack() {
        for (Node node : List.copyOf(lost.keySet())) {
            if (!now.isBefore(lost.getOrDefault(node, now))) {
                lost.remove(node);
                hands.forEach(hand -> hand.back(world.unitsOf(node.nodeId())));
                tell(described(node, NodeStatus.READY));
            }
        }
    }

    private Node described(Node node, NodeStatus status) {
        boots++;
        return new Node(node.nodeId(), DOMAIN, node.pool(), "boot-" + boots, now, status, node.gpus())
                .with(node.facts());
    }

    private void work() {
        if (now.isBefore(downUntil)) {
            return;
        }
        for (SimScheduler.Act act : brain.work(now)) {
            log.add(act.event());
            published.addAll(act.step().decisions());
            ClusterState state = act.state();
            act.step().decisions().forEach(decision -> truth.decided(decision, state));
            truth.stepped(known, act.step(), state);
            act.event().event().asReport().ifPresent(report -> settled(report, state));
            known = state;
            act.step().decisions().forEach(this::send);
            for (GpuId gpu : act.step().changed().owners()) {
                state.gpus()
                        .get(gpu)
                        .ifPresentOrElse(
                                owned -> leases.put(gpu, owned.lease(DOMAIN, state.epoch())), () -> leases.remove(gpu));
            }
        }
    }

    private void settled(ActuationReport report, ClusterState after) {
        Optional<JobState> job = report.tenant().flatMap(Tenant::jobId).flatMap(known.jobs()::get);
        Optional<DecisionId> decision = job.flatMap(JobState::changing).filter(report.decision()::equals);
        boolean isDone = job.flatMap(before -> after.jobs().get(before.spec().job()))
                .filter(state -> state.changing().isEmpty()
                        && state.change().changeDeadline().isAfter(after.now()))
                .isPresent();
        if (report.outcome() == Outcome.APPLIED && decision.isPresent() && isDone) {
            Set<String> actuators = actuators(decision.get());
            sharedChanges += actuators.size() > 1 ? 1 : 0;
            truth.settled(job.get().spec().job(), decision.get(), actuators);
        }
    }

    /** The actuators with units of a decision about a job; none if there is only one, or it is not known. */
    private Set<String> actuators(DecisionId id) {
        Set<String> names = new HashSet<>();
        Optional<Action> action = Optional.ofNullable(everDecided.get(id)).map(Decision::action);
        List<GpuId> units = new ArrayList<>(action.map(Action::gpus).orElse(List.of()));
        action.flatMap(Action::jobChange)
                .map(JobChange::allocation)
                .map(Allocation::gpus)
                .ifPresent(units::addAll);
        for (ActuatorDescription each : world.actuators()) {
            boolean takesPart = units.stream()
                    .anyMatch(unit -> each.nodes().contains(world.unit(unit).node()));
            if (takesPart) {
                names.add(each.actuator());
            }
        }
        return names;
    }

    private void send(Decision decision) {
        Decision other = everDecided.putIfAbsent(decision.id(), decision);
        if (other != null && !other.equals(decision)) {
            truth.broken("one name, one decision", "%s is the name of two".formatted(decision.id()));
        }
        for (SimActuator hand : hands) {
            if (!network.send("decisions to " + hand.name(), now, () -> hand.hear(decision))) {
                unheard.add(decision.id());
            }
        }
    }

    private void reported(SimActuator by, ActuationReport report) {
        truth.reported(by.name(), report);
        if (!network.send("reports of " + by.name(), now, () -> arrived(report))) {
            unheard.add(report.decision());
        }
    }

    private void arrived(ActuationReport report) {
        topic.add(report);
        brain.hear(report);
    }

    /** The faults seen in the run, independent of the recorded history. */
    List<String> broken() {
        return truth.broken();
    }

    /** The violations in the recorded history. The checker cannot find answers that were lost for good. */
    List<Violation> violations() {
        HistoryChecker checker = FaultyHistories.checker(DOMAIN, bug::step);
        log.forEach(checker::take);
        topic.forEach(checker::heard);
        return checker.verdict(published, List.copyOf(leases.values())).violations().stream()
                .filter(violation -> !isOfSilence(violation))
                .toList();
    }

    private boolean isOfSilence(Violation violation) {
        return violation.rule().equals("answer")
                && unheard.stream().anyMatch(id -> violation.text().startsWith("decision " + id + " "));
    }

    /** How many decisions were published, by the kind of their action and by the code of their reason. */
    Map<String, Integer> decisions() {
        Map<String, Integer> kinds = new TreeMap<>();
        for (Decision decision : published) {
            kinds.merge(decision.action().kind(), 1, Integer::sum);
            kinds.merge("because " + decision.reason().code(), 1, Integer::sum);
        }
        return kinds;
    }

    /** Jobs that could claim a unit of a queue which had too much. */
    int claims() {
        return truth.claims();
    }

    int losses() {
        return losses;
    }

    /** Changes of jobs that several actuators carried out together. */
    int sharedChanges() {
        return sharedChanges;
    }
}
