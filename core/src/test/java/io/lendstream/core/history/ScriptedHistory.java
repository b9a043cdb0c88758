package io.lendstream.core.history;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ChangeLimits;
import io.lendstream.core.scheduler.QuietWindows;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.LogPosition;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import io.lendstream.core.state.Trust;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A history in which the test scripts the outcome of each event, sound or not. The setup before an event is the outcome
 * of that event. The published decisions and leases always agree with the log.
 */
final class ScriptedHistory {
    private static final Duration NOTICE = Duration.ofSeconds(45);

    private final Map<Long, Step> steps = new HashMap<>();
    private final List<DomainEvent> log = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private final List<Decision> decided = new ArrayList<>();
    private final Set<GpuId> owners = new TreeSet<>();
    private final Set<JobId> changedJobs = new TreeSet<>();
    private PersistentMap<GpuId, GpuState> gpus = PersistentMap.empty();
    private PersistentMap<ServiceId, ServiceState> services = PersistentMap.empty();
    private PersistentMap<JobId, JobState> jobs = PersistentMap.empty();
    private Optional<SlicePlan> slices = Optional.empty();
    private ClusterState.Mode mode = new ClusterState.Mode(false, false, false);
    private ClusterState state = ClusterState.empty(DOMAIN);
    private Instant now = Scenario.START;

    ScriptedHistory() {
        this(1.0);
    }

    /** @param maxShareLent the greatest share of inference GPUs that may be lent */
    ScriptedHistory(double maxShareLent) {
        ChangeLimits limits = new ChangeLimits(maxShareLent, 1000, 1000, Duration.ZERO, QuietWindows.NONE);
        Scheduler scheduler =
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withChangeLimits(limits));
        then(scheduler.started(state, now));
    }

    /** Adds a whole GPU of the node that its name begins with. */
    ScriptedHistory gpu(String gpu, Pool pool, Owner owner) {
        return put(GpuState.free(new GpuId(gpu), nodeOf(gpu), pool, now, next()), owner);
    }

    /** Adds a MIG instance of inference's, such as {@code cut-g0/4:4}: from memory slice 4, of 4 slices. */
    ScriptedHistory instance(String unit, Owner owner) {
        Gpu gpu = cut(unit.substring(0, unit.indexOf('/')), unit);
        Optional<MigInstance> instance =
                Optional.of(MigInstance.of(gpu, gpu.instances().get(0)));
        return put(GpuState.free(new GpuId(unit), nodeOf(unit), Pool.INFERENCE, instance, now, next()), owner);
    }

    ScriptedHistory owner(String unit, Owner owner) {
        return put(gpus.require(new GpuId(unit)), owner);
    }

    private ScriptedHistory put(GpuState unit, Owner owner) {
        gpus = gpus.put(unit.gpuId(), unit.with(owner, now, next()));
        owners.add(unit.gpuId());
        return this;
    }

    private static NodeId nodeOf(String unit) {
        return new NodeId(unit.substring(0, unit.indexOf('-')));
    }

    ScriptedHistory service(String name, int floor) {
        ServiceId service = new ServiceId(name);
        InferenceService record = new InferenceService(
                service,
                DOMAIN,
                now,
                List.of(),
                Duration.ofMillis(500),
                10,
                Optional.empty(),
                floor,
                Duration.ofSeconds(8));
        services = services.put(service, ServiceState.of(record));
        return this;
    }

    /** Plans a service onto MIG instances. */
    ScriptedHistory plannedOntoInstances(String service) {
        SlicePlan.Demand demand = new SlicePlan.Demand(new ServiceId(service), 1, Map.of("3g.40gb", 10.0));
        slices = Optional.of(new SlicePlan(now, "A100-80GB", List.of(), List.of(demand), 0, now, now, "for the test"));
        return this;
    }

    /** A rigid job that asked for some GPUs and is allocated these. */
    ScriptedHistory job(String name, int asked, String... units) {
        JobState job = JobState.of(jobRecord(name, asked), next())
                .allocated(allocation(units), Optional.empty(), new DecisionId(DOMAIN, 1, 1), now, now);
        jobs = jobs.put(job.spec().job(), job);
        changedJobs.add(job.spec().job());
        return this;
    }

    static TrainingJob jobRecord(String name, int asked) {
        return Scenario.of("deepboot").jobRecord(name, asked, false);
    }

    static Allocation allocation(String... units) {
        List<GpuId> ids = Arrays.stream(units).map(GpuId::new).toList();
        return ids.isEmpty()
                ? Allocation.suspended(Mechanism.RESTART)
                : new Allocation(ids, 32, 0, 1, Mechanism.RESTART);
    }

    ScriptedHistory advisory(boolean isAdvisory) {
        mode = new ClusterState.Mode(false, isAdvisory, false);
        return this;
    }

    /** @param service whose idle GPUs may be lent at the level {@code one} */
    ScriptedHistory trust(TrustLevel level, Optional<ServiceId> service) {
        mode = mode.with(Trust.of(level, service, now, "tester"));
        return this;
    }

    /** What a job runs was taken over. */
    ScriptedHistory takenOver(String name) {
        jobs = jobs.put(new JobId(name), jobs.require(new JobId(name)).takenOver());
        return this;
    }

    /** A decision that the next event leads to. */
    Decision decides(Action action) {
        return decides(action, false);
    }

    Decision decides(Action action, boolean isAdvisory) {
        return decides("test", action, isAdvisory);
    }

    /** The same, with a cause. */
    Decision decides(ReasonCode code, Action action) {
        return decides(code.label(), action, false);
    }

    private Decision decides(String code, Action action, boolean isAdvisory) {
        Decision decision = new Decision(
                new DecisionId(DOMAIN, 1, decisions.size() + decided.size() + 1),
                now,
                now.plus(NOTICE),
                isAdvisory,
                new Reason(code, "", Map.of(), List.of()),
                action);
        decided.add(decision);
        return decision;
    }

    /** Logs the next event, whose outcome is all that was set up since the last one. */
    ScriptedHistory then(Event event) {
        DomainEvent logged = new DomainEvent(DOMAIN, 1, next(), now, Optional.empty(), event);
        decisions.addAll(decided);
        state = new ClusterState(
                DOMAIN,
                new LogPosition(now, 1, logged.sequence(), decisions.size()),
                Optional.empty(),
                mode,
                Optional.empty(),
                slices,
                Optional.empty(),
                List.of(),
                List.of(),
                new ClusterEntities(
                        PersistentMap.empty(), gpus, services, jobs, PersistentMap.empty(), PersistentMap.empty()));
        Step.Changed changed = new Step.Changed(
                Set.of(),
                Set.of(),
                Set.of(),
                new TreeSet<>(changedJobs),
                Set.of(),
                Set.of(),
                Set.of(),
                new TreeSet<>(owners));
        steps.put(logged.sequence(), new Step(state, decided, changed));
        log.add(logged);
        decided.clear();
        owners.clear();
        changedJobs.clear();
        return this;
    }

    ScriptedHistory tick() {
        return then(new Tick(DOMAIN, now));
    }

    ScriptedHistory after(Duration time) {
        now = now.plus(time);
        return this;
    }

    /** A node reports its GPUs. */
    ScriptedHistory inventory(String node, Gpu... reported) {
        return then(
                new Node(new NodeId(node), DOMAIN, Pool.INFERENCE, "boot-1", now, NodeStatus.READY, List.of(reported)));
    }

    /** A GPU of 80 GiB as its node reports it, in MIG mode with instances such as {@code cut-g0/4:4}. */
    static Gpu cut(String gpu, String... units) {
        List<GpuInstance> instances =
                Arrays.stream(units).map(ScriptedHistory::instance).toList();
        return Gpu.whole(new GpuId(gpu), 0, "test GPU", 80L << 30).cutInto(instances);
    }

    private static GpuInstance instance(String unit) {
        String[] place = unit.substring(unit.indexOf('/') + 1).split(":", -1);
        return new GpuInstance(
                new GpuId(unit),
                "3g.40gb",
                Integer.parseInt(place[0]),
                Integer.parseInt(place[1]),
                40L << 30,
                Optional.empty());
    }

    /** An actuator reports on the last decision; before any decision, on the first one to come. */
    ScriptedHistory report(Outcome outcome, Optional<Tenant> tenant, String... units) {
        return then(new ActuationReport(
                DOMAIN,
                new DecisionId(DOMAIN, 1, Math.max(1, decisions.size())),
                "test",
                now,
                outcome,
                Arrays.stream(units).map(GpuId::new).toList(),
                tenant,
                Timings.NONE,
                ""));
    }

    ScriptedHistory command(ControlCommand.Kind kind, String... units) {
        List<GpuId> ids = Arrays.stream(units).map(GpuId::new).toList();
        return then(new ControlCommand(DOMAIN, "command", now, "tester", kind, Optional.empty(), ids, "for the test"));
    }

    /** Writes an event to the log again. */
    ScriptedHistory repeat(int sequence) {
        log.add(log.get(sequence - 1));
        return this;
    }

    /** Writes an event to the log again, with another time. */
    ScriptedHistory repeatChanged(int sequence) {
        DomainEvent event = log.get(sequence - 1);
        log.add(new DomainEvent(
                DOMAIN, event.epoch(), event.sequence(), event.at().plusSeconds(1), event.origin(), event.event()));
        return this;
    }

    private long next() {
        return state.eventSequence() + 1;
    }

    ClusterState state() {
        return state;
    }

    Instant now() {
        return now;
    }

    Verdict verdict() {
        HistoryChecker checker =
                new HistoryChecker(DOMAIN, Scheduler::of, (scheduler, before, event) -> steps.get(event.sequence()));
        log.forEach(checker::take);
        List<Lease> leases = gpus.stream().map(gpu -> gpu.lease(DOMAIN, 1)).toList();
        return checker.verdict(decisions, leases);
    }
}
