package io.lendstream.launcher.operation;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.NodeId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Whether agents name the users of GPUs, by the last sample of each node. */
final class UserDiagnosis {
    private static final String REMEDY =
            "see the agent's log, and 'Who uses a GPU' in docs/agent.md; an agent needs the PIDs of the host, and maybe root";

    private final Map<NodeId, List<GpuSample>> latest = new TreeMap<>();

    void take(GpuTelemetry sample) {
        latest.put(sample.nodeId(), sample.gpus());
    }

    Finding finding() {
        long gpus = latest.values().stream().mapToLong(List::size).sum();
        List<NodeId> without = latest.entrySet().stream()
                .filter(node ->
                        node.getValue().stream().anyMatch(gpu -> gpu.usedBy().isEmpty()))
                .map(Map.Entry::getKey)
                .toList();
        long known = latest.values().stream()
                .flatMap(List::stream)
                .filter(gpu -> gpu.usedBy().isPresent())
                .count();
        if (gpus == 0) {
            return Finding.ok("users", "no sample in the last minute");
        }
        if (without.isEmpty()) {
            return Finding.ok("users", "agents name the users of all %d GPUs and instances".formatted(gpus));
        }
        if (known == 0) {
            return Finding.ok("users", "no agent names the users of GPUs (docs/agent.md, 'Who uses a GPU')");
        }
        return Finding.warn(
                "users",
                "agents name the users of %d of %d GPUs and instances; unknown on %s"
                        .formatted(known, gpus, Diagnosis.some(without, NodeId::value)),
                REMEDY);
    }
}
