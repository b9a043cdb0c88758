package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Running replicas of several units of services that declare no shapes any more. If replicas of one unit find no GPUs,
 * they make room, as {@link LeftOutReplicas} do. Each of their units is taken to answer as much as a replica.
 */
record LeftOutGroups(StepBuilder builder, SchedulerSettings settings, InferencePool pool) {
    private static final Comparator<ReplicaGroup> SMALLEST =
            Comparator.<ReplicaGroup>comparingInt(group -> group.units().size()).thenComparing(ReplicaGroup::id);

    /** Stops one of each service that lacks replicas, unless GPUs are about to be free. */
    void makeRoom(Map<ServiceId, ReplicaNeed> needs, ReplicaReasons reasons) {
        needs.forEach((name, need) -> {
            ServiceState service = builder.services().require(name);
            boolean hasSome = !service.spec().hasGroups()
                    && !ReplicaGroup.of(builder.clusterIndex(), name).isEmpty();
            if (hasSome && pool.coming().isEmpty()) {
                makeRoom(service, need, reasons);
            }
        });
    }

    private void makeRoom(ServiceState service, ReplicaNeed need, ReplicaReasons reasons) {
        ServiceId name = service.spec().service();
        ReplicaReasons.Shortage shortage = reasons.shortage(service, need);
        if (shortage.replicas() == 0 || shortage.starting() > 0) {
            return;
        }
        toStop(service, need, shortage.serving())
                .ifPresent(group -> new GroupChanges(builder, settings)
                        .stop(
                                name,
                                List.of(group),
                                reasons.of(
                                        service,
                                        need,
                                        shortage,
                                        "%s stops a replica in a shape that it does not declare any more: it %s"
                                                .formatted(name, shortage.inWords(" (", ")")),
                                        Map.of("idled", (double) group.units().size()))));
    }

    /** The smallest one that the load does not need; of a service under its floor, the smallest one. */
    private Optional<ReplicaGroup> toStop(ServiceState service, ReplicaNeed need, int others) {
        int serving = others;
        List<ReplicaGroup> useful = new ArrayList<>();
        for (ReplicaGroup group :
                ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            serving += group.isServing() ? group.units().size() : 0;
            if (group.isServing() && pool.fits(service, group.units().get(0))) {
                useful.add(group);
            }
        }
        int spare = serving - Math.max(need.now(), need.ahead());
        return useful.stream().min(SMALLEST).filter(group -> group.units().size() <= spare || others < need.floor());
    }
}
