package io.lendstream.core.faults;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.ActuationSnapshot;
import io.lendstream.core.actuation.ChangeDriver;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Holding;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Machine;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.simulated.DevicePlugin;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;

/** An actuator with its tenants: a simulated driver, or machines that take orders and report. */
final class SimActuator {
    /** Turns from one stock to the next. */
    private static final int STOCK_EVERY = 12;

    private final String name;
    private final Duration notice;
    private final Bug bug;
    private final Supplier<ChangeDriver> driver;
    private final List<NodeId> scope;
    private final Optional<DevicePlugin> plugin;
    private final double trouble;
    private final Optional<Machine> machine;
    private final List<Event> known = new ArrayList<>();
    private final Deque<Decision> inbox = new ArrayDeque<>();
    private final Deque<DriverEvent> deeds = new ArrayDeque<>();
    /** Reports of releases that it has not owned up to yet. */
    private final List<ActuationReport> heldBack = new ArrayList<>();

    private Actuation actuation;
    private ActuationSnapshot kept = ActuationSnapshot.empty();
    private Instant downUntil = Instant.MIN;
    private int turns;

    SimActuator(String name, Duration notice, Random random, Bug bug) {
        this.name = name;
        this.notice = notice;
        this.bug = bug;
        scope = List.of();
        plugin = Optional.empty();
        trouble = random.nextBoolean() ? 0 : 0.1;
        boolean driven = bug == Bug.BIND_BEFORE_RELEASE || random.nextBoolean();
        if (driven) {
            machine = Optional.of(new Machine(random, trouble));
            driver = () -> ScriptedDriver.ABLE;
        } else {
            machine = Optional.empty();
            SimulatedDelays delays = SimulatedDelays.realistic()
                    .withJitter(0.3, random.nextLong())
                    .withFailures(new SimulatedDelays.FailureRates(trouble, trouble, 0), random.nextLong());
            driver = () -> new SimulatedDriver(delays);
        }
        actuation = new Actuation(name, notice, driver.get());
    }

    /**
     * One of machines, which may be kept to some nodes.
     *
     * @param scope its nodes; empty for all
     */
    SimActuator(String name, Duration notice, Random random, List<NodeId> scope, Abilities abilities) {
        this.name = name;
        this.notice = notice;
        this.bug = Bug.NONE;
        this.scope = List.copyOf(scope);
        plugin = Optional.empty();
        trouble = random.nextInt(3) > 0 ? 0 : 0.1;
        machine = Optional.of(new Machine(random, trouble));
        driver = () -> new MachineDriver(abilities);
        actuation = new Actuation(name, notice, driver.get());
        actuation.keepTo(scope);
    }

    /**
     * One that chooses nodes only: a device plugin picks the units there.
     *
     * @param plugin has what really runs
     */
    SimActuator(String name, Duration notice, Random random, ActuatorDescription described, DevicePlugin plugin) {
        this.name = name;
        this.notice = notice;
        this.bug = Bug.NONE;
        this.scope = described.nodes();
        this.plugin = Optional.of(plugin);
        trouble = random.nextInt(3) > 0 ? 0 : 0.1;
        machine = Optional.empty();
        SimulatedDelays delays = SimulatedDelays.realistic()
                .withJitter(0.3, random.nextLong())
                .withFailures(new SimulatedDelays.FailureRates(trouble, trouble, 0), random.nextLong());
        driver = () -> new SimulatedDriver(delays, described.abilities(), plugin);
        actuation = new Actuation(name, notice, driver.get());
        actuation.keepTo(scope);
    }

    /** A driver of machines, whose events come from outside. */
    private record MachineDriver(Abilities abilities) implements ChangeDriver {
        @Override
        public boolean runs(Tenant tenant, Optional<TrainingJob> job) {
            return true;
        }

        @Override
        public boolean batches() {
            return true;
        }
    }

    String name() {
        return name;
    }

    void know(Event event) {
        known.add(event);
        if (event instanceof Node node) {
            plugin.filter(any -> scope.isEmpty() || scope.contains(node.nodeId()))
                    .ifPresent(picks -> picks.know(node));
        }
        tell(actuation, event);
    }

    private static void tell(Actuation actuation, Event event) {
        if (event instanceof Node node) {
            actuation.know(node);
        } else if (event instanceof TrainingJob job) {
            actuation.know(job);
        } else if (event instanceof InferenceService service) {
            actuation.know(service);
        }
    }

    void hear(Decision decision) {
        inbox.add(decision);
    }

    /** Ends, and restarts with the state kept at this time. */
    void crash(Instant until) {
        downUntil = until;
        deeds.clear();
        heldBack.clear();
        actuation = restored(kept);
        actuation.resume(until, true).forEach(order -> carryOut(order, until));
    }

    private Actuation restored(ActuationSnapshot snapshot) {
        Actuation next = Actuation.restore(name, notice, driver.get(), snapshot);
        next.keepTo(scope);
        known.forEach(event -> tell(next, event));
        return next;
    }

    /** What runs on some GPU ends by itself; its driver tells. Nothing of the kind happens in simulation. */
    Optional<Tenant> loseSomeTenant(Random random) {
        List<GpuId> gpus = running().keySet().stream().sorted().toList();
        if (machine.isEmpty() || gpus.isEmpty()) {
            return Optional.empty();
        }
        GpuId gpu = gpus.get(random.nextInt(gpus.size()));
        Optional<Tenant> tenant = machine.get().tenant(gpu);
        deeds.addAll(machine.get().crash(gpu));
        return tenant;
    }

    /**
     * A node fails with all that runs on it.
     *
     * @param isSeen whether the driver sees the ends of its tenants; if not, the node is taken out of the inventory
     */
    void lose(Node node, Collection<GpuId> units, boolean isSeen) {
        List<DriverEvent> ends = machine.map(each -> each.lose(units)).orElse(List.of());
        if (isSeen) {
            deeds.addAll(ends);
        } else {
            known.removeIf(
                    event -> event instanceof Node other && other.nodeId().equals(node.nodeId()));
            actuation.lose(node.nodeId());
        }
    }

    /** A node that failed is there again. */
    void back(Collection<GpuId> units) {
        machine.ifPresent(each -> each.back(units));
    }

    boolean isDown(Instant now) {
        return now.isBefore(downUntil);
    }

    /** What it reports of the time until now. */
    List<ActuationReport> work(Instant now) {
        machine.ifPresent(each -> deeds.addAll(each.advance(now)));
        if (isDown(now)) {
            return List.of();
        }
        List<ActuationReport> reports = new ArrayList<>();
        for (long taken = 0; !inbox.isEmpty(); taken++) {
            take(inbox.removeFirst(), now.plusMillis(taken), reports);
        }
        while (!deeds.isEmpty()) {
            DriverEvent driverEvent = deeds.removeFirst();
            reports.addAll(actuation.done(driverEvent, now));
            ownUp(driverEvent, now, reports);
        }
        reports.addAll(actuation.advance(now));
        turns++;
        if (turns % STOCK_EVERY == 0) {
            reports.addAll(actuation.stock());
        }
        kept = actuation.snapshot();
        actuation.orders().forEach(order -> carryOut(order, now));
        return reports;
    }

    private void carryOut(Order order, Instant now) {
        machine.ifPresent(each -> deeds.addAll(each.take(order, now)));
    }

    private void take(Decision decision, Instant now, List<ActuationReport> reports) {
        if (bug == Bug.BIND_BEFORE_RELEASE) {
            makeRoom(decision, now);
        }
        boolean old = last(decision.id().domain())
                .filter(last -> last.epoch() > decision.id().epoch())
                .isPresent();
        boolean again =
                last(decision.id().domain()).filter(decision.id()::equals).isPresent();
        if ((bug == Bug.LOST_FENCE && old) || (bug == Bug.DOUBLE_APPLY && again)) {
            forgetWhatItHasSeen(now);
        }
        reports.addAll(actuation.take(decision, now));
    }

    private Optional<DecisionId> last(DomainId domain) {
        return actuation.latest(domain);
    }

    private void forgetWhatItHasSeen(Instant now) {
        actuation.orders().forEach(order -> carryOut(order, now));
        ActuationSnapshot seen = actuation.snapshot();
        actuation = restored(new ActuationSnapshot(
                seen.clock(),
                seen.nextOrder(),
                List.of(),
                seen.holdings(),
                seen.steps(),
                seen.places(),
                seen.cuts(),
                seen.expected(),
                seen.refusals()));
    }

    /** Takes those who are leaving for gone, and keeps to itself that they are not. */
    private void makeRoom(Decision decision, Instant now) {
        for (Holding holding : List.copyOf(actuation.holdings())) {
            if (decision.action().gpus().contains(holding.gpu()) && holding.phase() == Holding.Phase.RELEASING) {
                heldBack.addAll(actuation.done(
                        new DriverEvent.Stopped(holding.tenant(), List.of(holding.gpu()), false, ""), now));
            }
        }
    }

    private void ownUp(DriverEvent driverEvent, Instant now, List<ActuationReport> reports) {
        if (driverEvent instanceof DriverEvent.Stopped left) {
            for (ActuationReport report : List.copyOf(heldBack)) {
                if (report.tenant().filter(left.tenant()::equals).isPresent()
                        && left.units().containsAll(report.gpus())) {
                    heldBack.remove(report);
                    reports.add(at(report, now));
                }
            }
        }
    }

    private static ActuationReport at(ActuationReport report, Instant now) {
        return new ActuationReport(
                report.domain(),
                report.decision(),
                report.actuator(),
                now,
                report.outcome(),
                report.gpus(),
                report.tenant(),
                report.timings(),
                report.reason());
    }

    /** A sample with the users of units, if a device plugin picks them, as agents show it. */
    GpuTelemetry shown(GpuTelemetry sample) {
        boolean isMine = scope.isEmpty() || scope.contains(sample.nodeId());
        return plugin.isPresent() && isMine ? plugin.get().shown(sample) : sample;
    }

    /** Whether a device plugin picks the units. */
    boolean picksUnits() {
        return plugin.isPresent();
    }

    /** Who really runs where. */
    Map<GpuId, Tenant> running() {
        if (plugin.isPresent()) {
            return plugin.get().tenants();
        }
        return machine.map(Machine::running).orElseGet(() -> {
            Map<GpuId, Tenant> running = new HashMap<>();
            for (Holding holding : actuation.holdings()) {
                if (holding.phase() != Holding.Phase.BINDING) {
                    running.put(holding.gpu(), holding.tenant());
                }
            }
            return running;
        });
    }

    /** Whether it has no step for a GPU, and no order for one. */
    boolean isRidOf(GpuId gpu) {
        return inbox.isEmpty()
                && actuation.holdings().stream()
                        .noneMatch(holding -> holding.gpu().equals(gpu));
    }

    /** Whether some of its changes fail. */
    boolean isTroubled() {
        return trouble > 0;
    }

    /** Where two ran on one GPU. */
    List<String> accidents() {
        return machine.map(Machine::accidents).orElse(List.of());
    }

    static boolean takesUp(ActuationReport report) {
        return report.outcome() == Outcome.ACCEPTED;
    }
}
