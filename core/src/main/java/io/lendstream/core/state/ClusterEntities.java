package io.lendstream.core.state;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.Cached;
import io.lendstream.core.persistent.Derived;
import io.lendstream.core.persistent.PersistentMap;
import java.util.Optional;
import java.util.function.Function;

/**
 * The nodes, GPUs, services, jobs, queues, actuators and remembered applications of a domain.
 *
 * @param actuators the last description of each actuator, by its name
 * @param applications what ended jobs taught that are forgotten
 * @param scopes the actuators of each node
 * @param clusterIndex the same in other orders
 */
public record ClusterEntities(
        PersistentMap<NodeId, NodeState> nodes,
        PersistentMap<GpuId, GpuState> gpus,
        PersistentMap<ServiceId, ServiceState> services,
        PersistentMap<JobId, JobState> jobs,
        PersistentMap<QueueId, QueueState> queues,
        PersistentMap<String, ActuatorDescription> actuators,
        Applications applications,
        @Derived ActuatorScopes scopes,
        @Derived ClusterIndex clusterIndex) {
    static final ClusterEntities NONE = new ClusterEntities(
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty());

    /** Entities without remembered applications, whose index is built from scratch. */
    public ClusterEntities(
            PersistentMap<NodeId, NodeState> nodes,
            PersistentMap<GpuId, GpuState> gpus,
            PersistentMap<ServiceId, ServiceState> services,
            PersistentMap<JobId, JobState> jobs,
            PersistentMap<QueueId, QueueState> queues,
            PersistentMap<String, ActuatorDescription> actuators) {
        this(nodes, gpus, services, jobs, queues, actuators, Applications.NONE);
    }

    /** Entities whose index is built from scratch. */
    public ClusterEntities(
            PersistentMap<NodeId, NodeState> nodes,
            PersistentMap<GpuId, GpuState> gpus,
            PersistentMap<ServiceId, ServiceState> services,
            PersistentMap<JobId, JobState> jobs,
            PersistentMap<QueueId, QueueState> queues,
            PersistentMap<String, ActuatorDescription> actuators,
            Applications applications) {
        this(
                nodes,
                gpus,
                services,
                jobs,
                queues,
                actuators,
                applications,
                actuators.isEmpty() ? ActuatorScopes.NONE : ActuatorScopes.of(actuators.values()),
                ClusterIndex.of(nodes.values(), gpus.values(), services.values(), jobs.values()));
    }

    /** The same entities for one thread that looks up most of them: its look-ups are faster. */
    public ClusterEntities hashed() {
        return new ClusterEntities(
                nodes.hashed(),
                gpus.hashed(),
                services.hashed(),
                jobs.hashed(),
                queues.hashed(),
                actuators,
                applications,
                scopes,
                clusterIndex);
    }

    /** The same entities for any thread. */
    public ClusterEntities shared() {
        return new ClusterEntities(
                nodes.shared(),
                gpus.shared(),
                services.shared(),
                jobs.shared(),
                queues.shared(),
                actuators,
                applications,
                scopes,
                clusterIndex);
    }

    /**
     * Whether some service declares shapes that decisions may ask for: an actuator that does not describe itself would
     * start a replica on each unit.
     */
    public boolean startsGroups() {
        return !clusterIndex.shaped().isEmpty() && !scopes.isEmpty();
    }

    /** The jobs that are not over and not refused, in the order in which it is their turn. */
    public Iterable<JobState> openJobs() {
        return openJobs(job -> job);
    }

    /** Those of them that hold no GPUs, in the same order. */
    public Iterable<JobState> waitingJobs() {
        return clusterIndex.jobs().waiting().mapped(jobs::require);
    }

    /** What a function makes of all of them, one after the other as they are asked for. */
    public <T> Iterable<T> openJobs(Function<? super JobState, ? extends T> function) {
        return clusterIndex.jobs().open().mapped(job -> function.apply(jobs.require(job)));
    }

    /** The jobs that are not over and hold GPUs, or are about to; by name. */
    public Iterable<JobState> holdingJobs() {
        return clusterIndex.jobs().holding().mapped(jobs::require);
    }

    /** With a node that is new or has changed. */
    public ClusterEntities with(NodeState node) {
        NodeId id = node.node().nodeId();
        ClusterIndex next = clusterIndex.withNode(nodes.get(id), Optional.of(node));
        return with(nodes.put(id, node), gpus, services, jobs, next);
    }

    /** Without a node. */
    public ClusterEntities without(NodeId id) {
        return with(nodes.remove(id), gpus, services, jobs, clusterIndex.withNode(nodes.get(id), Optional.empty()));
    }

    /** With a GPU that is new or has changed. */
    public ClusterEntities with(GpuState gpu) {
        GpuId id = gpu.gpuId();
        ClusterIndex next = clusterIndex.withGpu(gpus.get(id), Optional.of(gpu));
        return with(nodes, gpus.put(id, gpu), services, jobs, next);
    }

    /** A unit in the pool that its node has now; as it is if the node is not known. */
    public GpuState pooled(GpuState unit) {
        Optional<NodeState> node = nodes.get(unit.nodeId());
        return node.isEmpty() || node.get().node().pool() == unit.pool()
                ? unit
                : unit.in(node.get().node().pool());
    }

    /** Without a GPU. */
    public ClusterEntities without(GpuId id) {
        return with(nodes, gpus.remove(id), services, jobs, clusterIndex.withGpu(gpus.get(id), Optional.empty()));
    }

    /** With a service that is new or has changed. */
    public ClusterEntities with(ServiceState service) {
        ServiceId id = service.spec().service();
        ClusterIndex next = clusterIndex.withService(services.get(id), Optional.of(service));
        return with(nodes, gpus, services.put(id, service), jobs, next);
    }

    /** Without a service. */
    public ClusterEntities without(ServiceId id) {
        ClusterIndex next = clusterIndex.withService(services.get(id), Optional.empty());
        return with(nodes, gpus, services.remove(id), jobs, next);
    }

    /** With a job that is new or has changed. */
    public ClusterEntities with(JobState job) {
        JobId id = job.spec().job();
        ClusterIndex next = clusterIndex.withJob(jobs.get(id), Optional.of(job));
        return with(nodes, gpus, services, jobs.put(id, job), next);
    }

    /** Without a job. */
    public ClusterEntities without(JobId id) {
        return with(nodes, gpus, services, jobs.remove(id), clusterIndex.withJob(jobs.get(id), Optional.empty()));
    }

    private ClusterEntities with(
            PersistentMap<NodeId, NodeState> nextNodes,
            PersistentMap<GpuId, GpuState> nextGpus,
            PersistentMap<ServiceId, ServiceState> nextServices,
            PersistentMap<JobId, JobState> nextJobs,
            ClusterIndex next) {
        return new ClusterEntities(
                nextNodes, nextGpus, nextServices, nextJobs, queues, actuators, applications, scopes, next);
    }

    /** With a queue that is new or has changed. */
    public ClusterEntities with(QueueState queue) {
        return with(queues.put(queue.spec().queue(), queue));
    }

    /** Without a queue. */
    public ClusterEntities without(QueueId id) {
        return with(queues.remove(id));
    }

    private ClusterEntities with(PersistentMap<QueueId, QueueState> next) {
        ClusterIndex index = clusterIndex.keeping(Cached.NOTHING);
        return new ClusterEntities(nodes, gpus, services, jobs, next, actuators, applications, scopes, index);
    }

    /** With other remembered applications. */
    public ClusterEntities with(Applications next) {
        return new ClusterEntities(nodes, gpus, services, jobs, queues, actuators, next, scopes, clusterIndex);
    }

    /** With an actuator that is new or has changed. */
    public ClusterEntities with(ActuatorDescription actuator) {
        PersistentMap<String, ActuatorDescription> next = actuators.put(actuator.actuator(), actuator);
        return new ClusterEntities(
                nodes,
                gpus,
                services,
                jobs,
                queues,
                next,
                applications,
                ActuatorScopes.of(next.values()),
                clusterIndex);
    }

    /** The same with its ledger of queues; without one if that is not of whole GPUs alone. */
    public ClusterEntities keeping(QueueLedger ledger) {
        Cached kept = ledger.isOfWholeGpus() ? Cached.of(ledger.copy()) : Cached.NOTHING;
        return with(nodes, gpus, services, jobs, clusterIndex.keeping(kept));
    }

    /** The same with the ledger of others, whose units and queues are the same. */
    public ClusterEntities keepingThatOf(ClusterEntities others) {
        return others.keepsLedger()
                ? with(nodes, gpus, services, jobs, clusterIndex.keeping(others.clusterIndex.kept()))
                : this;
    }

    /** Whether it has its ledger of queues. */
    public boolean keepsLedger() {
        return !clusterIndex.kept().isNothing();
    }

    /** A copy of its ledger of queues, to go on with; empty if there is none. */
    public Optional<QueueLedger> keptLedger() {
        return clusterIndex.kept().as(QueueLedger.class).map(QueueLedger::copy);
    }

    /** The units that a unit is lent and taken back with, such as {@code node n1}; empty if it is lent alone. */
    public Optional<String> bundleOf(GpuState unit) {
        return scopes.bundle(unit, nodes);
    }

    /** The queue that a tenant names, if it is declared. */
    public Optional<ClusterQueue> queueOf(Tenant tenant) {
        Optional<QueueId> named = tenant.isJob()
                ? tenant.jobId().flatMap(jobs::get).flatMap(job -> job.spec().queue())
                : tenant.serviceId()
                        .flatMap(services::get)
                        .flatMap(service -> service.spec().queue());
        return named.flatMap(queues::get).map(QueueState::spec);
    }

    /** The priority of a job: that of its class in its queue, or else its own. */
    public int priorityOf(JobState job) {
        TrainingJob.Precedence precedence = job.spec().precedence();
        return precedence
                .queue()
                .flatMap(queues::get)
                .map(queue -> queue.spec().priorityOf(precedence))
                .orElse(precedence.priority());
    }
}
