package io.lendstream.actuator;

import io.lendstream.actuator.driver.Device;
import io.lendstream.actuator.driver.Surroundings;
import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.Holding;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** The nodes, services and jobs that are known, from the topics or, without a broker, from the state of the last run. */
final class Inventory implements Surroundings {
    private final Map<GpuId, Device> devices = new ConcurrentHashMap<>();
    private final Map<JobId, TrainingJob> jobs = new ConcurrentHashMap<>();
    private final Map<NodeId, Node> nodes = new TreeMap<>();
    private final Map<ServiceId, InferenceService> services = new TreeMap<>();

    @Override
    public Optional<TrainingJob> job(JobId job) {
        return Optional.ofNullable(jobs.get(job));
    }

    @Override
    public Optional<Device> device(GpuId unit) {
        return Optional.ofNullable(devices.get(unit));
    }

    void know(Node node) {
        nodes.put(node.nodeId(), node);
        for (Gpu gpu : node.gpus()) {
            devices.put(gpu.gpuId(), Device.of(gpu));
            gpu.instances().forEach(each -> devices.put(each.gpuId(), Device.of(gpu, each)));
        }
    }

    void know(TrainingJob job) {
        jobs.put(job.job(), job);
    }

    void know(InferenceService service) {
        services.put(service.service(), service);
    }

    void forget(NodeId node) {
        nodes.remove(node);
    }

    void forget(JobId job) {
        jobs.remove(job);
    }

    void forget(ServiceId service) {
        services.remove(service);
    }

    /** Learns what an earlier run knew. */
    void restore(ActuatorState.Known known) {
        known.nodes().forEach(this::know);
        known.jobs().forEach(this::know);
        known.services().forEach(this::know);
    }

    /** What is needed without a broker: what concerns the GPUs that somebody has, and who has them. */
    ActuatorState.Known concerning(Actuation actuation) {
        Set<GpuId> units = new HashSet<>();
        Set<JobId> running = new HashSet<>();
        Set<ServiceId> serving = new HashSet<>();
        for (Holding holding : actuation.holdings()) {
            units.add(holding.gpu());
            if (holding.tenant() instanceof Tenant.Job job) {
                running.add(job.job());
            } else if (holding.tenant() instanceof Tenant.Service service) {
                serving.add(service.service());
            }
        }
        List<Node> concerned = nodes.values().stream()
                .filter(node -> node.gpus().stream()
                        .anyMatch(gpu -> units.contains(gpu.gpuId())
                                || gpu.instances().stream().anyMatch(each -> units.contains(each.gpuId()))))
                .toList();
        return new ActuatorState.Known(
                concerned,
                jobs.values().stream()
                        .filter(job -> running.contains(job.job()))
                        .sorted(java.util.Comparator.comparing(job -> job.job().value()))
                        .toList(),
                services.values().stream()
                        .filter(service -> serving.contains(service.service()))
                        .toList());
    }
}
