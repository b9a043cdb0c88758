package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaMix;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The need of a service that declares shapes, while units are found for it. A replica counts with the requests that it
 * answers in its shape on its kind of GPU.
 */
final class GroupNeed {
    private final InferenceService spec;
    private final Function<ReplicaMix, ReplicaNeed> need;
    private final double next;
    private final List<Double> counted = new ArrayList<>();

    /**
     * @param isThere whether the domain has a kind
     * @param need of the service, by the capacities of its replicas
     */
    private GroupNeed(InferenceService spec, Predicate<KindId> isThere, Function<ReplicaMix, ReplicaNeed> need) {
        this.spec = spec;
        this.need = need;
        this.next = next(spec, isThere);
    }

    /** The need of a service in a step. */
    static GroupNeed of(StepBuilder builder, Policy policy, SchedulerSettings settings, ServiceState service) {
        Duration lead = lead(settings, service);
        boolean looksAhead = policy.info().looksAhead();
        return new GroupNeed(
                service.spec(),
                builder.clusterIndex().trainingCapacity().kinds()::contains,
                mix -> ReplicaNeed.of(service, builder.now(), lead, looksAhead, mix));
    }

    /** The need of a service at a time, in replicas of the shape that it prefers. */
    static ReplicaNeed preferred(Policy policy, SchedulerSettings settings, ServiceState service, Instant now) {
        Duration lead = lead(settings, service);
        boolean looksAhead = policy.info().looksAhead();
        return new GroupNeed(
                        service.spec(), any -> true, mix -> ReplicaNeed.of(service, now, lead, looksAhead, mix))
                .inCounted();
    }

    private static Duration lead(SchedulerSettings settings, ServiceState service) {
        return settings.notice()
                .plus(GroupChanges.longestCold(service.spec().hardware().planned()));
    }

    /** What one more replica answers: in the first shape, on the first of its kinds that the domain has. */
    private static double next(InferenceService spec, Predicate<KindId> isThere) {
        double declared = spec.replicaCapacityPerSecond();
        List<ReplicaShape> planned = spec.hardware().planned();
        for (ReplicaShape shape : planned) {
            if (shape.capacities().isEmpty()) {
                return shape.capacityOn(Optional.empty(), declared);
            }
            for (KindCapacity kind : shape.capacities()) {
                if (isThere.test(kind.kind())) {
                    return shape.capacityOn(Optional.of(kind.kind()), declared);
                }
            }
        }
        return planned.isEmpty() ? declared : planned.get(0).capacityOn(Optional.empty(), declared);
    }

    /** What a replica is planned with; 0 if the service does not declare its shape, or its kind, any more. */
    double capacity(ReplicaGroup group) {
        Optional<ReplicaShape> shape = spec.hardware().named(group.part().shape());
        return shape.filter(known -> known.uses(group.kind()) && known.units() == group.part().units())
                .map(known -> known.capacityOn(group.kind(), spec.replicaCapacityPerSecond()))
                .orElse(0.0);
    }

    private int place(ReplicaGroup group) {
        List<ReplicaShape> shapes = spec.hardware().shapes();
        for (int i = 0; i < shapes.size(); i++) {
            if (shapes.get(i).name().equals(group.part().shape())) {
                return i;
            }
        }
        return shapes.size();
    }

    /** The order in which replicas are kept and woken: preferred shapes first, then another order. */
    Comparator<ReplicaGroup> preferredFirst(Comparator<ReplicaGroup> then) {
        return Comparator.comparingInt(this::place).thenComparing(then);
    }

    void count(double capacity) {
        counted.add(capacity);
    }

    void count(UnitSet set) {
        count(set.shape().capacityOn(set.kind(), spec.replicaCapacityPerSecond()));
    }

    /** The need counted in these replicas first, in their order. */
    ReplicaNeed in(List<ReplicaGroup> groups) {
        return in(groups.stream().mapToDouble(this::capacity).toArray());
    }

    /** The need counted in the replicas that are counted. */
    ReplicaNeed inCounted() {
        return in(counted.stream().mapToDouble(each -> each).toArray());
    }

    private ReplicaNeed in(double[] capacities) {
        double[] used = Arrays.stream(capacities).filter(each -> each > 0).toArray();
        return need.apply(new ReplicaMix(used, next));
    }

    /** Replicas that are missing beside those counted, in the preferred shape. */
    int missing() {
        return Math.max(0, inCounted().replicas() - counted.size());
    }

    /** Replicas that are missing to the floor beside those counted. */
    int missingToFloor() {
        return Math.max(0, spec.floorReplicas() - counted.size());
    }
}
