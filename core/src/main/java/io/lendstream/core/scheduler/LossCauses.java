package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tells why jobs have lost GPUs. */
record LossCauses(StepBuilder builder) {
    /** The lost GPUs by cause, as far as it is known, such as {@code node-1/0, node-1/1: its node left}. */
    String inWords(List<GpuId> lost) {
        Map<String, List<String>> byCause = new LinkedHashMap<>();
        for (GpuId gpu : lost) {
            String cause = builder.gpus()
                    .get(gpu)
                    .flatMap(unit -> unit.owner().asQuarantined())
                    .map(out -> ": " + out.reason())
                    .orElse("");
            byCause.computeIfAbsent(cause, any -> new ArrayList<>()).add(gpu.value());
        }
        List<String> groups = new ArrayList<>();
        byCause.forEach((cause, gpus) -> groups.add(String.join(", ", gpus) + cause));
        return String.join("; ", groups);
    }
}
