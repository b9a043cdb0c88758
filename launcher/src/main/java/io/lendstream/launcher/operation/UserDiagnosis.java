package io.lendstream.launcher.operation;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Whether agents name the users of GPUs, by the samples of the last minute. */
final class UserDiagnosis {
    private static final String REMEDY =
            "see the agent's log, and 'Who uses a GPU' in docs/agent.md; an agent needs the PIDs of the host, and maybe root";

    private final Map<NodeId, Map<GpuId, Boolean>> named = new TreeMap<>();

    /** A GPU whose users were known once is known: a process may end while an agent reads it. */
    void take(GpuTelemetry sample) {
        Map<GpuId, Boolean> gpus = named.computeIfAbsent(sample.nodeId(), added -> new HashMap<>());
        sample.gpus().forEach(gpu -> gpus.merge(gpu.gpuId(), gpu.usedBy().isPresent(), Boolean::logicalOr));
    }

    Finding finding() {
        List<Boolean> all =
                named.values().stream().flatMap(gpus -> gpus.values().stream()).toList();
        long known = all.stream().filter(isNamed -> isNamed).count();
        if (all.isEmpty()) {
            return Finding.ok("users", "no sample in the last minute");
        }
        if (known == all.size()) {
            return Finding.ok("users", "agents name the users of all %d GPUs and instances".formatted(known));
        }
        if (known == 0) {
            return Finding.ok("users", "no agent names the users of GPUs (docs/agent.md, 'Who uses a GPU')");
        }
        List<NodeId> without = named.entrySet().stream()
                .filter(node -> node.getValue().containsValue(false))
                .map(Map.Entry::getKey)
                .toList();
        return Finding.warn(
                "users",
                "agents name the users of %d of %d GPUs and instances; unknown on %s"
                        .formatted(known, all.size(), Diagnosis.some(without, NodeId::value)),
                REMEDY);
    }
}
