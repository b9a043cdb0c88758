package io.lendstream.core.scheduler;

import io.lendstream.core.demand.Outlook;
import io.lendstream.core.demand.ReplicaMix;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The need of a service that declares its capacity by kind of GPU, while units are found for it. A replica counts with
 * the requests that it answers on its kind, so that the number of replicas needed depends on which replicas there are.
 */
final class KindNeed {
    private static final int UNKNOWN = -1;

    private final InferenceService spec;
    private final Function<ReplicaMix, ReplicaNeed> need;
    /** The kind that a missing replica is counted on, and its capacity. */
    private final Optional<KindId> kind;

    private final double perSecond;
    private final double slowest;
    private final List<GpuState> counted = new ArrayList<>();
    /** How many replicas are missing beside those counted; negative until asked. */
    private int missing = UNKNOWN;

    /**
     * @param isThere whether the domain has a kind
     * @param need of the service, by the capacities of its replicas
     */
    KindNeed(InferenceService spec, Predicate<KindId> isThere, Function<ReplicaMix, ReplicaNeed> need) {
        this.spec = spec;
        this.need = need;
        this.kind = spec.capacities().stream()
                .map(KindCapacity::kind)
                .filter(isThere)
                .findFirst();
        this.perSecond = kind.map(any -> spec.capacityOn(kind)).orElse(spec.replicaCapacityPerSecond());
        this.slowest = spec.capacities().stream()
                .map(KindCapacity::kind)
                .filter(isThere)
                .mapToDouble(each -> spec.capacityOn(Optional.of(each)))
                .min()
                .orElse(perSecond);
    }

    /** Whether a service counts by kinds: it declares them, and the scheduler tells kinds apart. */
    static boolean isFor(StepBuilder builder, ServiceState service) {
        return !service.spec().takesKindsAsAlike()
                && !builder.clusterIndex().trainingCapacity().kinds().isEmpty();
    }

    /** The longest warm-up on the kinds that a service may use and that the domain has. */
    static Duration warmUp(InferenceService spec, Predicate<KindId> isThere) {
        return spec.capacities().stream()
                .map(KindCapacity::kind)
                .filter(isThere)
                .map(each -> spec.warmUpOn(Optional.of(each)))
                .max(Comparator.naturalOrder())
                .orElse(spec.warmUp());
    }

    /** The need of a service at a time, counted in replicas on these kinds first. */
    static ReplicaNeed need(
            Policy policy,
            SchedulerSettings settings,
            ServiceState service,
            Instant now,
            Collection<KindId> ofDomain,
            List<Optional<KindId>> ofReplicas) {
        InferenceService spec = service.spec();
        InferenceService timed = settings.timed(service);
        Duration lead = new StartLead(settings).ofSingle(timed, warmUp(timed, ofDomain::contains));
        Outlook outlook = policy.outlook();
        KindNeed byKind =
                new KindNeed(spec, ofDomain::contains, mix -> ReplicaNeed.of(service, now, lead, outlook, mix));
        return byKind.need.apply(ReplicaMix.of(spec, ofReplicas, byKind.perSecond));
    }

    /** The order in which replicas are kept and woken: preferred kinds first, then another order. */
    Comparator<GpuState> preferredFirst(Comparator<GpuState> then) {
        return Comparator.<GpuState>comparingInt(
                        unit -> spec.preference(unit.kind()).orElse(Integer.MAX_VALUE))
                .thenComparing(then);
    }

    boolean uses(GpuState unit) {
        return spec.uses(unit.kind());
    }

    /** How many of these replicas are on kinds that the service uses. */
    int used(List<GpuState> replicas) {
        int used = 0;
        for (GpuState unit : replicas) {
            used += uses(unit) ? 1 : 0;
        }
        return used;
    }

    /** The need counted in these replicas first, in their order, and then in replicas on the preferred kind. */
    ReplicaNeed in(List<GpuState> replicas) {
        return in(replicas, perSecond);
    }

    private ReplicaNeed in(List<GpuState> replicas, double next) {
        List<Optional<KindId>> kinds = new ArrayList<>(replicas.size());
        for (GpuState unit : replicas) {
            kinds.add(unit.kind());
        }
        return need.apply(ReplicaMix.of(spec, kinds, next));
    }

    /** Counts a unit that has a replica, or will have one. The service must use its kind. */
    void count(GpuState unit) {
        counted.add(unit);
        missing = UNKNOWN;
    }

    /** Leaves out a unit that is counted if the others are enough without it; returns whether they are. */
    boolean leaveOut(GpuState unit) {
        List<GpuState> others = new ArrayList<>(counted);
        others.remove(unit);
        if (in(others).replicas() > others.size()) {
            return false;
        }
        counted.remove(unit);
        missing = UNKNOWN;
        return true;
    }

    /** The need counted in the units that are counted. */
    ReplicaNeed inCounted() {
        return in(counted);
    }

    /** Replicas that are missing beside those counted, on the preferred kind. Asked for each unit that may help. */
    int missing() {
        if (missing == UNKNOWN) {
            missing = Math.max(0, in(counted).replicas() - counted.size());
        }
        return missing;
    }

    /** The most replicas that could be missing: on the kind where a replica answers least. */
    int mostMissing() {
        return Math.max(0, in(counted, slowest).replicas() - counted.size());
    }

    /** The kind that missing replicas are counted on, for reasons; empty if the domain has none that may be used. */
    String inWords() {
        return kind.map(each -> " on " + each).orElse("");
    }
}
