package io.lendstream.core.scheduler;

import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** What services of queues lack to their floors. It is counted when it is first asked for. */
final class QueueFloors {
    private final StepBuilder builder;
    private Optional<Map<ServiceId, Integer>> lacking = Optional.empty();

    QueueFloors(StepBuilder builder) {
        this.builder = builder;
    }

    /** GPUs that a service of a queue lacks to its floor. */
    int of(ServiceId service) {
        return lacking().getOrDefault(service, 0);
    }

    /** GPUs that the services of a queue lack to their floors. */
    int of(QueueId queue) {
        int floors = 0;
        for (Map.Entry<ServiceId, Integer> service : lacking().entrySet()) {
            Optional<QueueId> of =
                    builder.services().require(service.getKey()).spec().queue();
            floors += of.filter(queue::equals).isPresent() ? service.getValue() : 0;
        }
        return floors;
    }

    /** A service gets one more. */
    void found(ServiceId service) {
        lacking().computeIfPresent(service, (any, replicas) -> Math.max(0, replicas - 1));
    }

    private Map<ServiceId, Integer> lacking() {
        Map<ServiceId, Integer> known = lacking.orElseGet(this::count);
        lacking = Optional.of(known);
        return known;
    }

    private Map<ServiceId, Integer> count() {
        Map<ServiceId, Integer> counts = new HashMap<>();
        for (ServiceState service : builder.services().values()) {
            if (service.spec().queue().isPresent() && service.spec().floorReplicas() > 0) {
                counts.put(service.spec().service(), service.spec().floorReplicas());
            }
        }
        if (!counts.isEmpty()) {
            for (Map.Entry<Replica, GpuState> replica :
                    builder.clusterIndex().gpus().replicas()) {
                ServiceId name = replica.getKey().service();
                boolean isUsed = counts.containsKey(name)
                        && builder.services()
                                .require(name)
                                .spec()
                                .uses(replica.getValue().kind());
                counts.computeIfPresent(name, (any, replicas) -> Math.max(0, replicas - (isUsed ? 1 : 0)));
            }
        }
        return counts;
    }
}
