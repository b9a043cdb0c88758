package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.LimitExcess;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.WarmReplica;
import io.lendstream.core.state.WarmReplicas;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Replicas that services of a queue give back because the queue is above its limit, those that became what they are
 * last first. Each is stopped whole, and none that its service, or its role, needs for the floor. Replicas that start
 * are stopped once they are warm.
 */
final class ReplicaReturns {
    private static final double ROUNDING = 1e-6;

    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final ClusterQueue queue;
    private final AbilityGuard abilities;

    /** What a replica does that is stopped. */
    enum Stage {
        SLEEPING {
            @Override
            boolean has(WarmReplica replica) {
                return replica.isSleeping();
            }
        },
        PROTECTED {
            @Override
            boolean has(WarmReplica replica) {
                return !replica.isSleeping() && !replica.isServing();
            }
        },
        SERVING {
            @Override
            boolean has(WarmReplica replica) {
                return replica.isServing();
            }
        };

        abstract boolean has(WarmReplica replica);
    }

    ReplicaReturns(StepBuilder builder, SchedulerSettings settings, ClusterQueue queue) {
        this.builder = builder;
        this.settings = settings;
        this.queue = queue;
        this.abilities = new AbilityGuard(builder);
    }

    /** Stops replicas in a stage until a quota is no more exceeded, or none is left that may be stopped. */
    void stop(QuotaUse use, Stage stage) {
        List<WarmReplica> chosen = choose(use, stage);
        Map<ServiceId, List<GpuId>> units = new TreeMap<>();
        Map<ServiceId, Integer> replicas = new TreeMap<>();
        for (WarmReplica replica : chosen) {
            replicas.merge(replica.service(), 1, Integer::sum);
            List<GpuId> theirs = units.computeIfAbsent(replica.service(), any -> new ArrayList<>());
            replica.units().forEach(unit -> theirs.add(unit.gpuId()));
        }
        units.forEach((service, theirs) -> {
            Map<String, Double> numbers = new TreeMap<>(LimitReturns.numbers(use));
            numbers.put("stopped", (double) theirs.size());
            Reason reason = builder.because(
                    ReasonCode.QUOTA,
                    "%s stops %s on %s: %s"
                            .formatted(
                                    service,
                                    Reason.counted(replicas.getOrDefault(service, 0), "replica"),
                                    Reason.counted(theirs.size(), "GPU"),
                                    LimitReturns.cause(builder, use)),
                    numbers,
                    List.of(builder.services().require(service).demand().event()));
            new ReplicaChanges(builder, settings).stop(service, theirs, reason);
        });
    }

    private List<WarmReplica> choose(QuotaUse use, Stage stage) {
        List<WarmReplica> chosen = new ArrayList<>();
        double over = use.over();
        for (ServiceState service : builder.services().values()) {
            boolean isTheirs = builder.entities()
                    .queueOf(new Tenant.Service(service.spec().service()))
                    .filter(queue::equals)
                    .isPresent();
            if (isTheirs) {
                WarmReplicas warm = WarmReplicas.of(builder.clusterIndex(), service.spec());
                List<WarmReplica> all = new ArrayList<>(warm.all());
                all.removeIf(replica -> !stage.has(replica) || !isTakeable(use, replica));
                all.sort(Comparator.comparing(
                                (WarmReplica replica) -> replica.first().since())
                        .reversed()
                        .thenComparing(replica -> replica.first().gpuId()));
                for (WarmReplica replica : all) {
                    if (over > ROUNDING && warm.mayStop(replica)) {
                        warm.stop(replica);
                        chosen.add(replica);
                        over -= replica.units().size();
                    }
                }
            }
        }
        double tooMany = -over;
        for (WarmReplica replica : List.copyOf(chosen)) {
            if (replica.units().size() <= tooMany + ROUNDING) {
                chosen.remove(replica);
                tooMany -= replica.units().size();
            }
        }
        return chosen;
    }

    private boolean isTakeable(QuotaUse use, WarmReplica replica) {
        for (GpuState unit : replica.units()) {
            if (!builder.isReachable(unit)
                    || !abilities.isUsable(unit)
                    || !LimitExcess.counts(queue, use, unit.kind())) {
                return false;
            }
        }
        return true;
    }
}
