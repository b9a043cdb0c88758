package io.lendstream.core.scheduler;

import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.QueueState;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The replicas with shapes that quotas refuse in a step, although there are units for them. */
final class RefusedShapes {
    private final StepBuilder builder;
    private final QuotaGuard quotas;
    /** GPUs by queue and service. */
    private final Map<QueueId, SortedMap<ServiceId, Integer>> gpus = new HashMap<>();

    private final Map<QueueId, QuotaRefusal> first = new HashMap<>();

    RefusedShapes(StepBuilder builder, QuotaGuard quotas) {
        this.builder = builder;
        this.quotas = quotas;
    }

    /** The replicas that a role still lacks, if a quota refused the units that were found last. */
    void add(ServiceId service, RoleSupply role) {
        role.refusal().ifPresent(refusal -> {
            int refused = Math.multiplyExact(Math.max(1, role.need().missing()), role.refusedUnits());
            first.putIfAbsent(refusal.queue(), refusal);
            gpus.computeIfAbsent(refusal.queue(), any -> new TreeMap<>()).merge(service, refused, Integer::sum);
        });
    }

    /** Decides a hold for each queue that refuses another number of GPUs than before. */
    void hold() {
        for (QueueState queue : builder.entities().queues().values()) {
            QueueId name = queue.spec().queue();
            SortedMap<ServiceId, Integer> theirs = gpus.getOrDefault(name, Collections.emptySortedMap());
            int all = theirs.values().stream().mapToInt(count -> count).sum();
            QuotaRefusal refusal = first.get(name);
            if (all != queue.refusedInShapes().orElse(0)) {
                builder.put(queue.refusingInShapes(all));
                if (refusal != null) {
                    quotas.hold(refusal, Set.of(), theirs.keySet(), all);
                }
            }
        }
    }
}
