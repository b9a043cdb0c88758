package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The state of a domain whose owners are set by hand, so that a part of a step is tested alone. It decides nothing. */
final class Moment {
    static final Instant NOW = Scenario.START;
    /** The decision by which everything is as it is. */
    static final DecisionId EARLIER = new DecisionId(DOMAIN, 0, 7);

    private final Scenario records = Scenario.of("deepboot");
    private ClusterState state = ClusterState.empty(DOMAIN);
    private Instant now = NOW;
    private long sequence;

    ClusterState state() {
        return state;
    }

    /** From here on records carry a later time. */
    Moment later(Duration time) {
        now = now.plus(time);
        return this;
    }

    /** A step that only time leads to. */
    StepBuilder after(Duration time) {
        return draft(new Tick(DOMAIN, now.plus(time)), StepListener.NONE);
    }

    StepBuilder draft(Event event, StepListener listener) {
        return new StepBuilder(state, logged(event), listener);
    }

    DomainEvent logged(Event event) {
        return new DomainEvent(DOMAIN, state.epoch(), state.eventSequence() + 1, event.at(), Optional.empty(), event);
    }

    /** A step that has observed an event, and done nothing else. */
    StepBuilder observed(Event event) {
        StepBuilder builder = draft(event, StepListener.NONE);
        new EventApplier(builder, Policies.parse("deepboot"), SchedulerSettings.DEFAULTS).take(event);
        return builder;
    }

    Moment observe(Event event) {
        return kept(observed(event));
    }

    /** With what a step has changed so far. */
    Moment kept(StepBuilder builder) {
        state = builder.finished().state();
        return this;
    }

    /** With the state after a step. */
    Moment stepped(Step step) {
        state = step.state();
        return this;
    }

    Moment set(Consumer<StepBuilder> change) {
        StepBuilder builder = after(Duration.ZERO);
        change.accept(builder);
        return kept(builder);
    }

    Moment owned(Owner owner, String... gpus) {
        return set(builder -> List.of(gpus).forEach(gpu -> builder.own(new GpuId(gpu), owner)));
    }

    Moment warmHits(int hits, String gpu) {
        return set(builder -> builder.put(builder.gpu(new GpuId(gpu)).withWarmHits(hits)));
    }

    /** A job that trains on these GPUs, independent of their owner state. */
    Moment allocated(String job, String... gpus) {
        return set(builder -> {
            JobState known = builder.jobs().require(new JobId(job));
            builder.put(with(known, gpus).settled(Optional.empty()).aiming(gpus(gpus)));
        });
    }

    /** A job that is being given these GPUs until a time. */
    Moment changing(String job, Instant until, String... gpus) {
        return set(builder -> {
            JobState known = builder.jobs().require(new JobId(job));
            JobState given = known.allocated(allocation(gpus), Optional.empty(), EARLIER, until, now);
            builder.put(given.aiming(gpus(gpus)));
        });
    }

    private JobState with(JobState job, String... gpus) {
        return job.allocated(allocation(gpus), Optional.empty(), EARLIER, now, now);
    }

    private static Allocation allocation(String... gpus) {
        return new Allocation(gpus(gpus), 64, 0, 1, Mechanism.AFE);
    }

    static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    Moment node(String name, Pool pool, int gpus) {
        records.node(name, pool, gpus);
        return observe(described(name));
    }

    /** A node of GPUs in MIG mode, as {@link Scenario#migNode} has it. */
    Moment migNode(String name, Pool pool, String... cuts) {
        records.migNode(name, pool, cuts);
        return observe(described(name));
    }

    Moment switchableNode(String name, Pool pool, String... cuts) {
        records.switchableNode(name, pool, cuts);
        return observe(described(name));
    }

    private Node described(String name) {
        return records.state().nodes().require(new NodeId(name)).node();
    }

    /** What an agent says of its node from now on. */
    Moment status(String name, NodeStatus status) {
        Node known = state.nodes().require(new NodeId(name)).node();
        return observe(
                new Node(known.nodeId(), known.domain(), known.pool(), known.bootId(), now, status, known.gpus()));
    }

    Moment sampled(String... nodes) {
        for (String node : nodes) {
            observe(new GpuTelemetry(new NodeId(node), DOMAIN, "boot-1", ++sequence, now, List.of()));
        }
        return this;
    }

    /** A service of which one replica answers 10 requests/s and warms up in 8 s. */
    Moment service(String name, int floor) {
        return service(name, floor, Duration.ofSeconds(8));
    }

    Moment service(String name, int floor, Duration warmUp) {
        return observe(described(name, floor, warmUp));
    }

    /** A service with replicas of these shapes. */
    Moment service(String name, int floor, ReplicaShape... shapes) {
        return observe(described(name, floor, Duration.ofSeconds(8)).inShapes(List.of(shapes)));
    }

    private InferenceService described(String name, int floor, Duration warmUp) {
        return new InferenceService(
                new ServiceId(name),
                DOMAIN,
                now,
                List.of(),
                Duration.ofMillis(500),
                10,
                Optional.empty(),
                floor,
                warmUp);
    }

    /** Offered requests per second in the 15 s that end now. */
    Moment rate(String service, double perSecond) {
        return observe(rateOf(service, perSecond, Duration.ofSeconds(15), Optional.empty()));
    }

    RequestRate rateOf(String service, double perSecond, Duration window, Optional<Double> p99Seconds) {
        long requests = Math.round(perSecond * window.toSeconds());
        return new RequestRate(
                new ServiceId(service),
                DOMAIN,
                "gateway",
                "boot-1",
                ++sequence,
                now.minus(window),
                now,
                RequestRate.Requests.answered(requests),
                new RequestRate.Latency(Optional.empty(), p99Seconds),
                List.of(),
                List.of());
    }

    Moment job(String name, int gpus) {
        return observe(records.jobRecord(name, gpus, true));
    }

    Moment rigidJob(String name, int gpus) {
        return observe(records.jobRecord(name, gpus, false));
    }

    Moment progress(String job, JobPhase phase) {
        return observe(new TrainingProgress(
                new JobId(job),
                DOMAIN,
                now,
                phase,
                1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, 1, 64, 0),
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED));
    }

    Moment control(ControlCommand.Kind kind, String... gpus) {
        return observe(new ControlCommand(
                DOMAIN, "command", now, "tester", kind, Optional.empty(), gpus(gpus), "for the test"));
    }

    ActuationReport report(DecisionId decision, Outcome outcome, Tenant tenant, String... gpus) {
        return report(decision, outcome, Optional.of(tenant), gpus);
    }

    ActuationReport report(DecisionId decision, Outcome outcome, Optional<Tenant> tenant, String... gpus) {
        return new ActuationReport(
                DOMAIN, decision, "agent-1", now, outcome, gpus(gpus), tenant, Timings.NONE, "no driver");
    }

    /** The decision after or before {@link #EARLIER}. */
    static DecisionId decision(long sequence) {
        return new DecisionId(DOMAIN, 0, sequence);
    }

    static Tenant job(String name) {
        return new Tenant.Job(new JobId(name));
    }

    static Tenant service(String name) {
        return new Tenant.Service(new ServiceId(name));
    }

    static Owner serving(String service) {
        return new Owner.Serving(new ServiceId(service));
    }

    static Owner sleeping(String service) {
        return new Owner.Sleeping(new ServiceId(service));
    }

    static Owner warm(String service, Duration until) {
        return new Owner.Protected(new ServiceId(service), NOW.plus(until), 0);
    }

    static Owner binding(Tenant tenant, Duration deadline) {
        return new Owner.Binding(tenant, EARLIER, NOW.plus(deadline), Optional.empty(), 1);
    }

    static Owner releasing(Tenant tenant, Duration alarm) {
        return new Owner.Releasing(tenant, EARLIER, NOW, NOW.plus(alarm));
    }

    static Owner lent(String job, Duration until) {
        return new Owner.Lent(new JobId(job), EARLIER, NOW.plus(until));
    }

    static Owner training(String job) {
        return new Owner.Training(new JobId(job));
    }

    GpuState gpu(String name) {
        return state.gpus().require(new GpuId(name));
    }

    Owner owner(String gpu) {
        return gpu(gpu).owner();
    }

    JobState jobState(String name) {
        return state.jobs().require(new JobId(name));
    }

    ServiceState serviceState(String name) {
        return state.services().require(new ServiceId(name));
    }
}
