package io.lendstream.core.event;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.Flat;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The declaration of an inference service.
 *
 * @param models not used; kept because records and snapshots of earlier versions have it
 * @param slo the latency it promises, at the 99th percentile
 * @param replicaCapacityPerSecond requests that one replica answers within the SLO; it holds one GPU, unless the
 *     service declares shapes
 * @param replicaConcurrency requests that one replica runs at a time, where that is what limits it
 * @param floorReplicas replicas that are kept whatever the demand; of each role, if the service has roles
 * @param warmUp from the decision to a replica that answers
 * @param sliceMemoryBytes memory that one replica needs, at any batch that it has run; where it says so, it may be
 *     planned onto MIG instances with as much, and otherwise only onto those with as much as it has run in
 * @param queue the queue whose quota its replicas count in; without one it has no quota
 * @param hardware the kinds of GPU that it may use, the shapes of replicas of several units, and whether it is removed
 */
public record InferenceService(
        ServiceId service,
        DomainId domain,
        Instant at,
        List<String> models,
        Duration slo,
        double replicaCapacityPerSecond,
        Optional<Integer> replicaConcurrency,
        int floorReplicas,
        Duration warmUp,
        Optional<Long> sliceMemoryBytes,
        Optional<QueueId> queue,
        @Flat ServiceShapes hardware)
        implements Event {
    public InferenceService {
        models = List.copyOf(models);
        if (!(replicaCapacityPerSecond > 0) || Double.isInfinite(replicaCapacityPerSecond)) {
            throw new IllegalArgumentException(
                    "replicaCapacityPerSecond of %s must be a finite number above 0, but was %s"
                            .formatted(service, replicaCapacityPerSecond));
        }
        replicaConcurrency.ifPresent(requests -> Checks.atLeast("replicaConcurrency", 1, requests));
        Checks.atLeast("floorReplicas", 0, floorReplicas);
        Checks.atLeast("warmUp in milliseconds", 0, Limits.millis(warmUp));
        sliceMemoryBytes.ifPresent(bytes -> Checks.atLeast("sliceMemoryBytes", 1, bytes));
    }

    /** A service without a declared memory need. */
    public InferenceService(
            ServiceId service,
            DomainId domain,
            Instant at,
            List<String> models,
            Duration slo,
            double replicaCapacityPerSecond,
            Optional<Integer> replicaConcurrency,
            int floorReplicas,
            Duration warmUp) {
        this(
                service,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                Optional.empty());
    }

    /** A service without a queue. */
    public InferenceService(
            ServiceId service,
            DomainId domain,
            Instant at,
            List<String> models,
            Duration slo,
            double replicaCapacityPerSecond,
            Optional<Integer> replicaConcurrency,
            int floorReplicas,
            Duration warmUp,
            Optional<Long> sliceMemoryBytes) {
        this(
                service,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                sliceMemoryBytes,
                Optional.empty(),
                ServiceShapes.PLAIN);
    }

    /** Which replicas that run already it claims; empty if none does. */
    public Optional<AdoptionSelector> adopt() {
        return hardware.adopt();
    }

    /** The same, which claims what runs already. */
    public InferenceService adopting(AdoptionSelector selector) {
        return on(hardware.adopting(selector));
    }

    /** Whether the record ends the declaration: the service gives up all it has, and is then forgotten. */
    public boolean removed() {
        return hardware.removed();
    }

    /** The record that ends its declaration. It claims nothing and needs nothing. */
    public InferenceService removedAt(Instant time) {
        return new InferenceService(
                service,
                domain,
                time,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                0,
                warmUp,
                sliceMemoryBytes,
                queue,
                hardware.gone());
    }

    private InferenceService on(ServiceShapes other) {
        return with(warmUp, sliceMemoryBytes, queue, other);
    }

    private InferenceService with(
            Duration otherWarmUp, Optional<Long> otherMemory, Optional<QueueId> otherQueue, ServiceShapes other) {
        return new InferenceService(
                service,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                otherWarmUp,
                otherMemory,
                otherQueue,
                other);
    }

    /** The same service under another name. */
    public InferenceService named(ServiceId other) {
        return new InferenceService(
                other,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                sliceMemoryBytes,
                queue,
                hardware);
    }

    /** The same where a replica needs so much memory. */
    public InferenceService onSlicesOf(long bytes) {
        return with(warmUp, Optional.of(bytes), queue, hardware);
    }

    /** The same service in a queue. */
    public InferenceService in(QueueId other) {
        return with(warmUp, sliceMemoryBytes, Optional.of(other), hardware);
    }

    /** The same service with the kinds of GPU that it may use. */
    public InferenceService onKinds(List<KindCapacity> kinds) {
        return on(hardware.withKinds(kinds));
    }

    /** The same service with replicas of some shapes. */
    public InferenceService inShapes(List<ReplicaShape> shapes) {
        return on(hardware.withShapes(shapes));
    }

    /** The same service with floors of its roles. */
    public InferenceService withFloors(List<RoleFloor> floors) {
        return on(hardware.withFloors(floors));
    }

    /** The same service as it is planned: a single shape of one GPU only adds start times to one without shapes. */
    public InferenceService plain() {
        return hardware.single()
                .map(shape -> new InferenceService(
                        service,
                        domain,
                        at,
                        models,
                        slo,
                        shape.perSecond().orElse(replicaCapacityPerSecond),
                        replicaConcurrency,
                        hardware.floor(shape.role(), floorReplicas),
                        shape.starts().cold(),
                        shape.memoryBytes().or(() -> sliceMemoryBytes),
                        queue,
                        hardware.ofOneGpu(shape)))
                .orElse(this);
    }

    /** The start times of its replicas, if it declares them with a single shape of one GPU. */
    public Optional<StartTimes> singleStarts() {
        return hardware.single().map(ReplicaShape::starts);
    }

    /** The same service with another warm-up, where its kind of GPU has none of its own. */
    public InferenceService warmingUpIn(Duration other) {
        return with(other, sliceMemoryBytes, queue, hardware);
    }

    /**
     * The same by the kinds that count instead of others. Of several that count as one, the one with the fewest
     * requests per second counts, with the longest warm-up.
     */
    public InferenceService countedBy(GpuKinds kinds) {
        if (kinds.aliases().isEmpty() || (capacities().isEmpty() && !hasGroups())) {
            return this;
        }
        if (hasGroups()) {
            return inShapes(hardware.shapes().stream()
                    .map(shape -> shape.countedBy(kinds))
                    .toList());
        }
        Map<KindId, KindCapacity> counted = new LinkedHashMap<>();
        for (KindCapacity each : capacities()) {
            KindId kind = kinds.counted(each.kind());
            counted.merge(kind, each.on(kind), this::lesser);
        }
        return onKinds(List.copyOf(counted.values()));
    }

    private KindCapacity lesser(KindCapacity one, KindCapacity other) {
        Duration first = one.warmUp().orElse(warmUp);
        Duration second = other.warmUp().orElse(warmUp);
        KindCapacity least = other.least(replicaCapacityPerSecond) < one.least(replicaCapacityPerSecond) ? other : one;
        return least.warmingUpIn(first.compareTo(second) >= 0 ? first : second);
    }

    /** The kinds of GPU that a replica of one GPU may use, preferred ones first; if empty, all, taken as alike. */
    public List<KindCapacity> capacities() {
        return hardware.capacities();
    }

    /** Whether a replica may have several units. */
    public boolean hasGroups() {
        return hardware.hasGroups();
    }

    /** Replicas of a role that are kept whatever the demand. */
    public int floor(ReplicaRole role) {
        return hasGroups() ? hardware.floor(role, floorReplicas) : floorReplicas;
    }

    /** GPUs of its floor, in the shapes that it prefers. */
    public int floorGpus() {
        return hasGroups() ? hardware.floorGpus(floorReplicas) : floorReplicas;
    }

    /** Whether it takes all kinds of GPU as alike. */
    public boolean takesKindsAsAlike() {
        return capacities().isEmpty();
    }

    /**
     * The place of a kind in the order in which it prefers them; empty if it must not use the kind. A GPU without a
     * known kind comes first.
     */
    public OptionalInt preference(Optional<KindId> kind) {
        List<KindCapacity> capacities = hardware.capacities();
        if (capacities.isEmpty() || kind.isEmpty()) {
            return OptionalInt.of(0);
        }
        for (int i = 0; i < capacities.size(); i++) {
            if (capacities.get(i).kind().equals(kind.get())) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    /** Whether it may use GPUs of a kind, in some shape if it declares shapes. */
    public boolean uses(Optional<KindId> kind) {
        if (!hasGroups()) {
            return preference(kind).isPresent();
        }
        for (ReplicaShape shape : hardware.shapes()) {
            if (shape.uses(kind)) {
                return true;
            }
        }
        return false;
    }

    /** Requests per second that a replica is planned with on a kind of GPU; 0 if it must not use the kind. */
    public double capacityOn(Optional<KindId> kind) {
        OptionalInt place = preference(kind);
        if (place.isEmpty()) {
            return 0;
        }
        return capacities().isEmpty() || kind.isEmpty()
                ? replicaCapacityPerSecond
                : capacities().get(place.getAsInt()).least(replicaCapacityPerSecond);
    }

    /** Requests per second that a replica answers on a kind if its owner is right: a ratio counts in full. */
    public double likelyCapacityOn(Optional<KindId> kind) {
        return declared(kind)
                .map(known -> known.likely(replicaCapacityPerSecond))
                .orElse(replicaCapacityPerSecond);
    }

    /** From the decision to a replica that answers, on a kind of GPU. */
    public Duration warmUpOn(Optional<KindId> kind) {
        return declared(kind).flatMap(KindCapacity::warmUp).orElse(warmUp);
    }

    private Optional<KindCapacity> declared(Optional<KindId> kind) {
        OptionalInt place = preference(kind);
        return capacities().isEmpty() || kind.isEmpty() || place.isEmpty()
                ? Optional.empty()
                : Optional.of(capacities().get(place.getAsInt()));
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.service(this);
    }
}
