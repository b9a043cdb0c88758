package io.lendstream.core.state;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.Derived;
import io.lendstream.core.persistent.PersistentMap;
import java.util.Optional;

/**
 * The nodes, GPUs, services, jobs and queues of a domain.
 *
 * @param clusterIndex the same in other orders
 */
public record ClusterEntities(
        PersistentMap<NodeId, NodeState> nodes,
        PersistentMap<GpuId, GpuState> gpus,
        PersistentMap<ServiceId, ServiceState> services,
        PersistentMap<JobId, JobState> jobs,
        PersistentMap<QueueId, QueueState> queues,
        @Derived ClusterIndex clusterIndex) {
    static final ClusterEntities NONE = new ClusterEntities(
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty());

    /** Entities whose index is built from scratch. */
    public ClusterEntities(
            PersistentMap<NodeId, NodeState> nodes,
            PersistentMap<GpuId, GpuState> gpus,
            PersistentMap<ServiceId, ServiceState> services,
            PersistentMap<JobId, JobState> jobs,
            PersistentMap<QueueId, QueueState> queues) {
        this(
                nodes,
                gpus,
                services,
                jobs,
                queues,
                ClusterIndex.of(nodes.values(), gpus.values(), services.values(), jobs.values()));
    }

    /** With a node that is new or has changed. */
    public ClusterEntities with(NodeState node) {
        NodeId id = node.node().nodeId();
        return new ClusterEntities(
                nodes.put(id, node),
                gpus,
                services,
                jobs,
                queues,
                clusterIndex.withNode(nodes.get(id), Optional.of(node)));
    }

    /** Without a node. */
    public ClusterEntities without(NodeId id) {
        return new ClusterEntities(
                nodes.remove(id), gpus, services, jobs, queues, clusterIndex.withNode(nodes.get(id), Optional.empty()));
    }

    /** With a GPU that is new or has changed. */
    public ClusterEntities with(GpuState gpu) {
        GpuId id = gpu.gpuId();
        return new ClusterEntities(
                nodes, gpus.put(id, gpu), services, jobs, queues, clusterIndex.withGpu(gpus.get(id), Optional.of(gpu)));
    }

    /** Without a GPU. */
    public ClusterEntities without(GpuId id) {
        return new ClusterEntities(
                nodes, gpus.remove(id), services, jobs, queues, clusterIndex.withGpu(gpus.get(id), Optional.empty()));
    }

    /** With a service that is new or has changed. */
    public ClusterEntities with(ServiceState service) {
        ServiceId id = service.spec().service();
        return new ClusterEntities(
                nodes,
                gpus,
                services.put(id, service),
                jobs,
                queues,
                clusterIndex.withService(services.get(id), service));
    }

    /** With a job that is new or has changed. */
    public ClusterEntities with(JobState job) {
        JobId id = job.spec().job();
        return new ClusterEntities(
                nodes, gpus, services, jobs.put(id, job), queues, clusterIndex.withJob(jobs.get(id), Optional.of(job)));
    }

    /** Without a job. */
    public ClusterEntities without(JobId id) {
        return new ClusterEntities(
                nodes, gpus, services, jobs.remove(id), queues, clusterIndex.withJob(jobs.get(id), Optional.empty()));
    }

    /** With a queue that is new or has changed. */
    public ClusterEntities with(QueueState queue) {
        return new ClusterEntities(
                nodes, gpus, services, jobs, queues.put(queue.spec().queue(), queue), clusterIndex);
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
}
