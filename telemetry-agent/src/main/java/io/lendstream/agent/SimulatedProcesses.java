package io.lendstream.agent;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.GpuId;
import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Gives simulated GPUs users: the processes of this host whose {@code CUDA_VISIBLE_DEVICES} names them. A shell that
 * only starts such a process is not a user beside it.
 */
record SimulatedProcesses(HostProcesses host, List<String> ignored) {
    private static final String VARIABLE = "CUDA_VISIBLE_DEVICES";

    SimulatedProcesses {
        ignored = List.copyOf(ignored);
    }

    /** The same samples, with the users of each GPU and MIG instance. */
    List<GpuTelemetry> in(List<Node> nodes, List<GpuTelemetry> samples) {
        Map<GpuId, Set<String>> users = users(nodes);
        return samples.stream()
                .map(node -> new GpuTelemetry(
                        node.nodeId(),
                        node.domain(),
                        node.bootId(),
                        node.sequence(),
                        node.at(),
                        node.gpus().stream()
                                .map(gpu -> gpu.withUsers(List.copyOf(users.getOrDefault(gpu.gpuId(), Set.of()))))
                                .toList()))
                .toList();
    }

    private Map<GpuId, Set<String>> users(List<Node> nodes) {
        Map<Long, Set<GpuId>> devices = new HashMap<>();
        List<HostProcess> found = new ArrayList<>();
        for (HostProcess process : host.all()) {
            Set<GpuId> named = host.variable(process, VARIABLE)
                    .map(visible -> devices(visible, nodes))
                    .orElse(Set.of());
            if (!named.isEmpty() && ignored.stream().noneMatch(process::runs)) {
                devices.put(process.pid(), named);
                found.add(process);
            }
        }
        Map<Long, Set<GpuId>> ofChildren = new HashMap<>();
        found.forEach(process -> ofChildren
                .computeIfAbsent(process.parent(), added -> new HashSet<>())
                .addAll(devices.getOrDefault(process.pid(), Set.of())));
        Map<GpuId, Set<String>> users = new HashMap<>();
        for (HostProcess process : found) {
            Set<GpuId> own = new HashSet<>(devices.getOrDefault(process.pid(), Set.of()));
            own.removeAll(ofChildren.getOrDefault(process.pid(), Set.of()));
            own.forEach(
                    gpu -> users.computeIfAbsent(gpu, added -> new TreeSet<>()).add(host.user(process)));
        }
        return users;
    }

    /** The devices that a process sees. As in CUDA, the first unknown device ends the list. */
    private static Set<GpuId> devices(String visible, List<Node> nodes) {
        Set<GpuId> devices = new HashSet<>();
        for (String name : visible.split(",", -1)) {
            Optional<GpuId> device = device(name.strip(), nodes);
            if (device.isEmpty()) {
                break;
            }
            devices.add(device.get());
        }
        return devices;
    }

    /** By the UUID or its unique start; by index if there is one node. */
    private static Optional<GpuId> device(String name, List<Node> nodes) {
        Set<GpuId> found = new HashSet<>();
        for (Node node : nodes) {
            for (Gpu gpu : node.gpus()) {
                boolean isByUuid =
                        name.startsWith("GPU-") && gpu.gpuId().value().startsWith(name);
                boolean isByIndex = nodes.size() == 1 && name.equals(Integer.toString(gpu.index()));
                if (isByUuid || isByIndex) {
                    found.add(gpu.gpuId());
                }
                gpu.instances().stream()
                        .filter(instance -> instance.uuid().filter(name::equals).isPresent())
                        .map(GpuInstance::gpuId)
                        .forEach(found::add);
            }
        }
        return found.size() == 1 ? found.stream().findFirst() : Optional.empty();
    }
}
