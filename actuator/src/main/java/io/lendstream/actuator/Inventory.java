package io.lendstream.actuator;

import io.lendstream.actuator.driver.ClusterLookup;
import io.lendstream.actuator.driver.Device;
import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.Holding;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The known nodes, services and jobs, from the topics or, without a broker, from saved state. Domains may use equal
 * names; a domain's declarations never change another domain's.
 */
final class Inventory implements ClusterLookup {
    private final Function<JobId, Optional<DomainId>> homes;
    private final Map<GpuId, Device> devices = new ConcurrentHashMap<>();
    private final Map<GpuId, Node> nodesOfUnits = new ConcurrentHashMap<>();
    private final Map<JobId, Map<DomainId, TrainingJob>> jobs = new ConcurrentHashMap<>();
    private final Map<InDomain<NodeId>, Node> nodes = new HashMap<>();
    private final Map<InDomain<ServiceId>, InferenceService> services = new HashMap<>();

    private record InDomain<I>(DomainId domain, I id) {}

    /** @param homes the domain whose decisions a job follows, once it has GPUs */
    Inventory(Function<JobId, Optional<DomainId>> homes) {
        this.homes = homes;
    }

    /** A job's declaration: in the domain that it runs for, or in the only domain with a job of this name. */
    @Override
    public Optional<TrainingJob> job(JobId job) {
        Map<DomainId, TrainingJob> named = jobs.getOrDefault(job, Map.of());
        return named.size() == 1
                ? named.values().stream().findFirst()
                : homes.apply(job).map(named::get);
    }

    @Override
    public Optional<Device> device(GpuId unit) {
        return Optional.ofNullable(devices.get(unit));
    }

    @Override
    public Optional<Node> node(GpuId unit) {
        return Optional.ofNullable(nodesOfUnits.get(unit));
    }

    /**
     * Applies a declaration of a node.
     *
     * @param isOurs whether a GPU belongs to the node's domain: if two domains declare it, the first one keeps it
     */
    void know(Node node, Predicate<GpuId> isOurs) {
        nodes.put(new InDomain<>(node.domain(), node.nodeId()), node);
        node.gpus().stream().filter(gpu -> isOurs.test(gpu.gpuId())).forEach(gpu -> {
            devices.put(gpu.gpuId(), Device.of(gpu));
            nodesOfUnits.put(gpu.gpuId(), node);
            gpu.instances().forEach(each -> {
                devices.put(each.gpuId(), Device.of(gpu, each));
                nodesOfUnits.put(each.gpuId(), node);
            });
        });
    }

    void know(TrainingJob job) {
        jobs.computeIfAbsent(job.job(), any -> new ConcurrentHashMap<>()).put(job.domain(), job);
    }

    void know(InferenceService service) {
        services.put(new InDomain<>(service.domain(), service.service()), service);
    }

    void forget(DomainId domain, NodeId node) {
        nodes.remove(new InDomain<>(domain, node));
    }

    void forget(DomainId domain, JobId job) {
        jobs.computeIfPresent(job, (any, named) -> {
            named.remove(domain);
            return named.isEmpty() ? null : named;
        });
    }

    void forget(DomainId domain, ServiceId service) {
        services.remove(new InDomain<>(domain, service));
    }

    /** Restores the declarations of an earlier run. */
    void restore(ActuatorState.Known known) {
        known.nodes().forEach(node -> know(node, any -> true));
        known.jobs().forEach(this::know);
        known.services().forEach(this::know);
    }

    /**
     * The declarations needed without a broker: the jobs and services that hold GPUs, and the nodes of these GPUs and
     * of those that the same jobs have on other machines.
     */
    ActuatorState.Known concerning(Actuation actuation) {
        Set<GpuId> units = new HashSet<>();
        Set<JobId> running = new HashSet<>();
        Set<ServiceId> serving = new HashSet<>();
        for (Holding holding : actuation.holdings()) {
            units.add(holding.gpu());
            holding.tenant().jobId().ifPresent(running::add);
            holding.tenant().serviceId().ifPresent(serving::add);
        }
        actuation.places().stream()
                .flatMap(place -> place.allocation().stream())
                .forEach(allocation -> units.addAll(allocation.gpus()));
        return new ActuatorState.Known(
                nodes.values().stream()
                        .filter(node -> node.gpus().stream()
                                .anyMatch(gpu -> units.contains(gpu.gpuId())
                                        || gpu.instances().stream().anyMatch(each -> units.contains(each.gpuId()))))
                        .sorted(Comparator.comparing(Node::nodeId).thenComparing(Node::domain))
                        .toList(),
                jobs.values().stream()
                        .flatMap(named -> named.values().stream())
                        .filter(job -> running.contains(job.job()))
                        .sorted(Comparator.comparing(TrainingJob::job).thenComparing(TrainingJob::domain))
                        .toList(),
                services.values().stream()
                        .filter(service -> serving.contains(service.service()))
                        .sorted(Comparator.comparing(InferenceService::service).thenComparing(InferenceService::domain))
                        .toList());
    }
}
