package io.lendstream.simulator.replay;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.forecast.service.ServiceForecaster;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.World;
import io.lendstream.simulator.WorldSettings;
import io.lendstream.simulator.report.FactsCollector;
import io.lendstream.simulator.results.RunFactsOf;
import io.lendstream.simulator.results.RunIdentity;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Replays a workload in virtual time. At each moment the world speaks first, then nodes, then the actuator; then the
 * scheduler's time passes. What an event leads to is carried out, reported and taken in before the next event.
 */
public final class Replay {
    private static final Duration PROGRESS_EVERY = Duration.ofSeconds(2);
    private static final int LOOK_AT_THE_CLOCK_EVERY = 512;
    /** A run that is not over this long after its last arrival never will be. */
    private static final Duration PATIENCE = Duration.ofDays(120);
    /** The name of the actuator in reports. */
    private static final String ACTUATOR = "replay";

    private final Workload workload;
    private final ReplaySettings settings;
    private final Scheduler scheduler;
    private final World world;
    private final SimulatedNodes nodes;
    private final Actuation actuation;
    private final UnitPicks units;
    private final OutageClock outages;
    private final DeadlineArrivals deadlines;
    private final FactsCollector facts;
    private final QueueWaits waits;
    private final Map<ServiceId, ServiceForecaster> forecasters = new TreeMap<>();
    private final Deque<Event> inbox = new ArrayDeque<>();
    private final List<DomainEvent> log = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private final Map<GpuId, Lease> leases = new HashMap<>();
    /** What an operator will reset, soonest first. */
    private final Deque<Reset> resets = new ArrayDeque<>();

    private final Consumer<DomainEvent> events;
    private ClusterState state;
    private Instant now;

    private record Reset(Instant at, GpuId gpu) {}

    private Replay(Workload workload, ReplaySettings settings, Consumer<DomainEvent> events) {
        this.events = events;
        this.workload = workload;
        this.settings = settings;
        this.deadlines = new DeadlineArrivals(workload);
        this.scheduler = new Scheduler(Policies.parse(settings.policy()), settings.scheduler());
        this.waits = new QueueWaits(scheduler.policy(), settings.scheduler());
        this.nodes = new SimulatedNodes(settings.layout(), workload.start(), settings.samplePeriod(), "replay");
        WorldSettings world = WorldSettings.of(settings.layout().seed());
        this.world =
                new World(workload, scheduler.policy().info().needsDurations() ? world : world.withoutRigidProgress());
        nodes.inventory().forEach(this.world::onNode);
        this.outages = new OutageClock(
                settings.outages(),
                nodes.inventory(),
                workload.start(),
                settings.layout().seed());
        this.units = new UnitPicks(settings);
        this.actuation = new Actuation(ACTUATOR, settings.scheduler().notice(), units.driver());
        this.facts = new FactsCollector(identity().title(), settings.scheduler().lending());
        this.state = ClusterState.empty(settings.domain());
        this.now = workload.start();
    }

    /** Replays a workload. */
    public static Replayed run(Workload workload, ReplaySettings settings) {
        return run(workload, settings, progress -> {});
    }

    /**
     * Replays a workload.
     *
     * @param progress receives the progress, now and then by the wall clock
     */
    public static Replayed run(Workload workload, ReplaySettings settings, Consumer<ReplayProgress> progress) {
        return run(workload, settings, progress, event -> {});
    }

    /**
     * Replays a workload.
     *
     * @param progress receives the progress, now and then by the wall clock
     * @param events receives every event of the log, whether the log is kept or not
     */
    public static Replayed run(
            Workload workload,
            ReplaySettings settings,
            Consumer<ReplayProgress> progress,
            Consumer<DomainEvent> events) {
        return new Replay(workload, settings, events).run(progress);
    }

    private Replayed run(Consumer<ReplayProgress> progress) {
        long begun = System.nanoTime();
        long told = begun;
        Instant giveUp = giveUp();
        take(scheduler.started(state, now));
        nodes.inventory().forEach(inbox::add);
        description().ifPresent(inbox::add);
        drain();
        for (long turns = 1; !world.finished(); turns++) {
            now = next();
            if (settings.until().filter(now::isAfter).isPresent()) {
                now = settings.until().get();
                inbox.addAll(world.advance(now));
                drain();
                break;
            }
            if (now.isAfter(giveUp)) {
                throw UnfinishedReplayException.of(workload, settings, PATIENCE, world.progress(), state);
            }
            moment();
            if (turns % LOOK_AT_THE_CLOCK_EVERY == 0 && System.nanoTime() - told > PROGRESS_EVERY.toNanos()) {
                told = System.nanoTime();
                progress.accept(new ReplayProgress(now, world.share(), Duration.ofNanos(told - begun)));
            }
        }
        double wallSeconds = (System.nanoTime() - begun) / 1e9;
        RunOutcome outcome = outcome(wallSeconds);
        return new Replayed(
                outcome,
                RunFactsOf.run(facts.facts(), outcome),
                state.eventSequence(),
                log,
                leases.values().stream()
                        .sorted(Comparator.comparing(Lease::gpuId))
                        .toList());
    }

    private RunOutcome outcome(double wallSeconds) {
        Optional<Distribution> queueWaits =
                Optional.of(waits.seconds(now)).filter(any -> !workload.queues().isEmpty());
        return new RunOutcome(
                identity(),
                world.results(),
                decisions,
                wallSeconds,
                world.finished(),
                queueWaits,
                waits.byQueue(workload.queues()));
    }

    /**
     * The description of the actuator; none if it can do what is usual, as in logs without one, and no service declares
     * shapes, which only an actuator that describes itself is asked for.
     */
    private Optional<ActuatorDescription> description() {
        boolean hasShapes = workload.loads().stream()
                .anyMatch(load -> load.service().plain().hasGroups());
        return settings.abilities().equals(Abilities.USUAL) && !hasShapes
                ? Optional.empty()
                : Optional.of(new ActuatorDescription(
                        ACTUATOR, settings.domain(), now, "simulated", List.of(), settings.abilities()));
    }

    private Instant giveUp() {
        return workload.end().plus(PATIENCE);
    }

    private RunIdentity identity() {
        return new RunIdentity(
                workload.name(),
                settings.policyName(),
                settings.scheduler().lending(),
                settings.scheduler().afe(),
                settings.layout().seed(),
                settings.layout().nodes(),
                settings.layout().gpusPerNode());
    }

    private Instant next() {
        Instant next = settings.samplesNodes() ? nodes.nextSampleAt() : Instant.MAX;
        next = earlier(next, world.nextEventAt());
        next = earlier(next, actuation.nextEventAt());
        next = earlier(next, scheduler.nextTimer(state));
        next = earlier(next, outages.nextAt());
        next = earlier(next, Optional.ofNullable(resets.peekFirst()).map(Reset::at));
        return next.isBefore(now) ? now : next;
    }

    /** All that happens now. */
    private void moment() {
        if (deadlines.areAt(now)) {
            tick();
        }
        inbox.addAll(world.advance(now));
        drain();
        for (Optional<OutageClock.Turn> turn = outages.poll(now); turn.isPresent(); turn = outages.poll(now)) {
            turn(turn.get().node(), turn.get().kind());
            drain();
        }
        while (!resets.isEmpty() && !resets.element().at().isAfter(now)) {
            GpuId gpu = resets.remove().gpu();
            inbox.add(reset("reset-%s-%s".formatted(gpu, now), List.of(gpu), "an operator has checked the GPU"));
            drain();
        }
        if (settings.samplesNodes()) {
            inbox.addAll(units.samples(nodes, now));
            drain();
        }
        said(actuation.advance(now));
        drain();
        tick();
    }

    private void tick() {
        if (scheduler.nextTimer(state).filter(at -> !at.isAfter(now)).isPresent()) {
            inbox.add(new Tick(settings.domain(), now));
            drain();
        }
    }

    /** Only what an agent, an operator and a node's processes do; what to make of it is the scheduler's. */
    private void turn(NodeId node, OutageClock.Kind kind) {
        switch (kind) {
            case LOST -> {
                nodes.lose(node);
                actuation.lose(node);
                world.onNodeLost(node, now);
            }
            case MISSED -> inbox.add(new NodeLeft(node, settings.domain(), now));
            case BACK -> {
                Node back = nodes.restart(node, now);
                world.onNode(back);
                inbox.add(back);
                inbox.add(reset("reset-%s-%s".formatted(node, now), units(back), "the node was repaired"));
            }
        }
    }

    private ControlCommand reset(String id, List<GpuId> units, String reason) {
        return new ControlCommand(
                settings.domain(), id, now, "replay", ControlCommand.Kind.RESET, Optional.empty(), units, reason);
    }

    private static List<GpuId> units(Node node) {
        return node.gpus().stream()
                .flatMap(gpu ->
                        gpu.migEnabled() ? gpu.instances().stream().map(GpuInstance::gpuId) : Stream.of(gpu.gpuId()))
                .toList();
    }

    /** Takes in everything there is, and everything that comes of it. */
    private void drain() {
        while (!inbox.isEmpty()) {
            while (!inbox.isEmpty()) {
                take(inbox.removeFirst());
            }
            if (world.nextEventAt().filter(at -> !at.isAfter(now)).isPresent()) {
                inbox.addAll(world.advance(now));
            }
        }
    }

    private void take(Event event) {
        introduce(event);
        Event declared = workload.declared().declared(event);
        DomainEvent logged = new DomainEvent(
                settings.domain(), state.epoch(), state.eventSequence() + 1, event.at(), Optional.empty(), declared);
        Step step = scheduler.step(state, logged);
        state = step.state();
        events.accept(logged);
        if (settings.keepsLog()) {
            log.add(logged);
        }
        facts.take(event);
        note(step);
        waits.take(step);
        for (Decision decision : step.decisions()) {
            decisions.add(decision);
            facts.take(decision);
            nodes.observe(decision);
            world.onDecision(decision);
            units.take(decision, actuation, world, now, this::said);
        }
        event.asRate().ifPresent(this::forecast);
    }

    private void forecast(RequestRate rate) {
        forecasters
                .computeIfAbsent(
                        rate.service(),
                        service -> new ServiceForecaster(settings.forecast(), service, settings.domain()))
                .observe(rate)
                .map(this::inGpus)
                .ifPresent(inbox::add);
    }

    /** As the forecaster does, by what the service is declared to be. */
    private DemandForecast inGpus(DemandForecast forecast) {
        return state.services()
                .get(forecast.service())
                .map(service -> ReplicaCapacity.of(service.spec()).inGpus(forecast))
                .orElse(forecast);
    }

    private void introduce(Event event) {
        event.asNode().ifPresent(actuation::know);
        event.asNode().ifPresent(units::know);
        event.asJob().ifPresent(actuation::know);
        event.asService().ifPresent(actuation::know);
    }

    private void said(List<ActuationReport> reports) {
        for (ActuationReport report : reports) {
            nodes.observe(report);
            world.onReport(report);
            inbox.add(report);
            for (Node recut : nodes.recut(report)) {
                world.onNode(recut);
                inbox.add(recut);
            }
        }
    }

    private void note(Step step) {
        for (GpuId gpu : step.changed().owners()) {
            state.gpus()
                    .get(gpu)
                    .ifPresentOrElse(
                            owned -> {
                                if (owned.owner() instanceof Owner.Quarantined) {
                                    settings.resetAfter()
                                            .ifPresent(after -> resets.add(new Reset(now.plus(after), gpu)));
                                }
                                Lease lease = owned.lease(settings.domain(), state.epoch());
                                leases.put(gpu, lease);
                                facts.take(lease);
                                world.onOwner(gpu, owned.owner(), now);
                            },
                            () -> {
                                leases.remove(gpu);
                                facts.gone(gpu, now);
                            });
        }
    }

    private static Instant earlier(Instant one, Optional<Instant> other) {
        return other.filter(at -> at.isBefore(one)).orElse(one);
    }
}
