package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.Applications;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterIndex;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.LogPosition;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Pacing;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import io.lendstream.core.state.Trust;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Builds a step: the next state and the decisions so far. */
final class StepBuilder {
    private final ClusterState before;
    private final DomainEvent event;
    private final StepListener listener;
    private final Instant now;
    private final List<Decision> decisions = new ArrayList<>();
    private final ChangeLog changes = new ChangeLog();
    private ClusterEntities entities;
    private long epoch;
    private long decisionSequence;
    private Optional<Instant> nextPlanAt;
    private Mode mode;
    private Optional<Pacing> pacing;
    private Optional<SlicePlan> slices;
    private Optional<Advice> advice;
    private boolean binding;
    private Set<GpuId> awaited = Set.of();
    private final StepLedger ledger;
    private final Promises promises;
    private final RecentLoans loans;

    StepBuilder(ClusterState before, DomainEvent event, StepListener listener) {
        this.before = before;
        this.event = event;
        this.listener = listener;
        this.now = event.at().isAfter(before.now()) ? event.at() : before.now();
        this.entities = before.entities();
        this.ledger = new StepLedger(entities);
        this.epoch = before.epoch();
        this.decisionSequence = before.decisionSequence();
        this.nextPlanAt = before.nextPlanAt();
        this.mode = before.mode();
        this.pacing = before.pacing();
        this.slices = before.slices();
        this.advice = before.advice();
        this.promises = new Promises(before.promises());
        this.loans = new RecentLoans(before.loanStarts());
        this.binding = !mode.isAdvisory();
    }

    Step finished() {
        ClusterState after = new ClusterState(
                before.domain(),
                new LogPosition(now, epoch, event.sequence(), decisionSequence),
                nextPlanAt,
                LateReturns.counted(this, changes.owners()),
                pacing,
                slices,
                advice,
                promises.left(this),
                loans.all(),
                ledger.kept(entities.shared()));
        return new Step(after, decisions, changes.changed());
    }

    /**
     * The step of a domain in advisory mode: the state follows the observations and not the advice. Advice is given
     * when a plan is due, not at every event, and only if it is not advised already.
     *
     * @param observed the step as far as observation went
     * @param isPlan whether a plan was made, so that older advice which it does not repeat no longer applies
     */
    Step advised(Step observed, boolean isPlan) {
        ClusterState after = observed.state().planned(nextPlanAt, slices);
        if (nextPlanAt.equals(before.nextPlanAt())) {
            return new Step(after, List.of(), observed.changed());
        }
        Advice given = advice.orElseGet(() -> new Advice(List.of()));
        List<Decision> newer =
                Advice.numbered(given.newAmong(decisions), before.domain(), epoch, before.decisionSequence());
        Advice standing = isPlan ? given.proposedAgain(decisions) : given;
        return new Step(
                after.advised(standing.with(newer), before.decisionSequence() + newer.size()),
                newer,
                observed.changed());
    }

    Instant now() {
        return now;
    }

    ClusterState before() {
        return before;
    }

    Event event() {
        return event.event();
    }

    long eventSequence() {
        return event.sequence();
    }

    StepListener listener() {
        return listener;
    }

    Mode mode() {
        return mode;
    }

    void mode(Mode next) {
        changes.invalidatePlan();
        mode = next;
        binding = !next.isAdvisory();
        if (binding || next.level().onlyObserves()) {
            advice = Optional.empty();
        }
    }

    /** What counts for the level of trust, at the same level. */
    void trust(Trust next) {
        mode = mode.with(next);
    }

    Optional<Advice> advice() {
        return advice;
    }

    /** Whether decisions made after this call are binding, even in advisory mode. */
    void binding(boolean on) {
        binding = on;
    }

    Optional<Pacing> pacing() {
        return pacing;
    }

    void pacing(Optional<Pacing> next) {
        pacing = next;
    }

    void epoch(long next) {
        epoch = next;
    }

    Optional<SlicePlan> slices() {
        return slices;
    }

    void slices(SlicePlan next) {
        slices = Optional.of(next);
    }

    /** Units that services are about to take, so that no job is lent them meanwhile. */
    Set<GpuId> awaited() {
        return awaited;
    }

    void await(Set<GpuId> units) {
        awaited = Set.copyOf(units);
    }

    /** The service of the event, if it is a rate or a forecast. */
    Optional<ServiceState> heard() {
        return event.event().heardService().flatMap(entities.services()::get);
    }

    Optional<Instant> nextPlanAt() {
        return nextPlanAt;
    }

    void nextPlanAt(Instant next) {
        nextPlanAt = Optional.of(next);
    }

    PersistentMap<NodeId, NodeState> nodes() {
        return entities.nodes();
    }

    PersistentMap<GpuId, GpuState> gpus() {
        return entities.gpus();
    }

    PersistentMap<ServiceId, ServiceState> services() {
        return entities.services();
    }

    PersistentMap<JobId, JobState> jobs() {
        return entities.jobs();
    }

    ClusterEntities entities() {
        return entities;
    }

    /** Makes look-ups by name faster in the rest of the step, which is to look up most entities. */
    void expectLookUps() {
        entities = entities.hashed();
    }

    /** The GPUs that queues use; it follows the changes of this step. */
    QueueLedger ledger() {
        return ledger.get(entities);
    }

    /** Counts a unit for a queue before the decision that binds it. */
    void promise(GpuState unit, QueueId queue) {
        ledger.promise(entities, unit, queue);
    }

    Promises promises() {
        return promises;
    }

    RecentLoans loans() {
        return loans;
    }

    ClusterIndex clusterIndex() {
        return entities.clusterIndex();
    }

    GpuState gpu(GpuId id) {
        return gpus().require(id);
    }

    /** Whether this step has changed anything so far that decisions depend on. */
    boolean matters() {
        return changes.matters();
    }

    /**
     * Whether this step has changed facts that plans of every policy depend on: the jobs, the GPUs, the GPUs of
     * inference. A GPU that goes from one job to another by the last plan does not count.
     */
    boolean changesPlans() {
        return changes.changesPlans();
    }

    /** Marks the last plan as no longer possible. */
    void invalidatePlan() {
        changes.invalidatePlan();
    }

    ChangeLog changes() {
        return changes;
    }

    boolean isReachable(GpuState gpu) {
        return isReachable(gpu.nodeId());
    }

    boolean isReachable(NodeId id) {
        return nodes().get(id).filter(NodeState::isReady).isPresent();
    }

    void put(NodeState node) {
        changes.node(nodes().get(node.node().nodeId()), node);
        entities = entities.with(node);
    }

    void remove(NodeId node) {
        entities = entities.without(node);
        changes.removed(node);
    }

    void put(GpuState gpu) {
        entities = entities.with(gpu);
        ledger.put(entities, gpu);
        changes.gpu(gpu.gpuId());
    }

    /** A unit that is not there yet. */
    void add(GpuState unit) {
        put(unit);
        changes.comesOrGoes(unit.gpuId());
    }

    void remove(GpuId gpu) {
        entities = entities.without(gpu);
        ledger.remove(gpu);
        changes.comesOrGoes(gpu);
    }

    /** Changes who owns a GPU; every change of an owner goes through here. */
    void own(GpuId id, Owner owner) {
        GpuState gpu = gpu(id);
        gpu.checkMayBe(owner);
        GpuState next = gpu.with(owner, now, event.sequence());
        put(owner.isFree() ? entities.pooled(next) : next);
        changes.owner(gpu, owner);
    }

    /** Extends the term of the present owner. */
    void extend(GpuId id, Owner owner) {
        GpuState gpu = gpu(id);
        describe(gpu.with(owner, gpu.since(), event.sequence()));
    }

    /** Changes what is known of a unit beside its owner. Its lease is published again. */
    void describe(GpuState gpu) {
        put(gpu);
        changes.term(gpu.gpuId());
    }

    void put(ServiceState service) {
        ledger.put(services().get(service.spec().service()), service);
        entities = entities.with(service);
        changes.service(service.spec().service());
    }

    void put(QueueState queue) {
        ledger.put(entities.queues().get(queue.spec().queue()), queue);
        entities = entities.with(queue);
        changes.queue(queue.spec().queue());
    }

    void put(ActuatorDescription actuator) {
        entities = entities.with(actuator);
        changes.actuator(actuator.actuator());
    }

    void put(Applications applications, Set<String> changed) {
        entities = entities.with(applications);
        changes.applications(changed);
    }

    void put(JobState job) {
        Optional<JobState> known = jobs().get(job.spec().job());
        changes.job(known, job);
        ledger.put(known, job);
        entities = entities.with(job);
    }

    void remove(JobId job) {
        left(entities.without(job));
        changes.removed(job);
    }

    void remove(ServiceId service) {
        left(entities.without(service));
        changes.service(service);
    }

    void remove(QueueId queue) {
        left(entities.without(queue));
        changes.queue(queue);
    }

    private void left(ClusterEntities rest) {
        ledger.restart();
        entities = rest;
    }

    DecisionId nextId() {
        return new DecisionId(before.domain(), epoch, decisionSequence + 1);
    }

    void decide(Instant deadline, Reason reason, Action action) {
        decisions.add(new Decision(nextId(), now, deadline, !binding, reason, action));
        decisionSequence++;
    }

    /** A reason that rests on the present event and on others. */
    Reason because(ReasonCode code, String text, Map<String, Double> numbers, List<Long> others) {
        return Reason.of(code, text, numbers, others, event.sequence());
    }
}
