package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/** Takes lent GPUs back for replicas of single GPUs, those first whose loss costs training least. */
final class LoanReclaim {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    /** The needs of services that count by kinds. */
    private final Map<ServiceId, KindNeed> byKind;

    private final ReplicaReasons reasons;
    private final Predicate<ServiceState> isLimited;
    private final BiPredicate<ServiceState, GpuState> suits;

    /**
     * @param isLimited whether the queue of a service has quotas
     * @param suits whether a service could use a unit once it is released
     */
    LoanReclaim(
            StepBuilder builder,
            Policy policy,
            SchedulerSettings settings,
            Map<ServiceId, KindNeed> byKind,
            ReplicaReasons reasons,
            Predicate<ServiceState> isLimited,
            BiPredicate<ServiceState, GpuState> suits) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.byKind = byKind;
        this.reasons = reasons;
        this.isLimited = isLimited;
        this.suits = suits;
    }

    /**
     * Takes loans back.
     *
     * @param lack the replicas that the service lacks; counts those that these loans make up for
     * @param selective whether the service can use only some GPUs
     */
    void reclaim(ServiceState service, ReplicaNeed need, MissingReplicas lack, boolean selective) {
        ClusterView whole = new TrainingView(builder, settings).view();
        ClusterView view =
                selective || new AbilityGuard(builder).isOn() ? whole.ofGpus(unit -> suits.test(service, unit)) : whole;
        int count = lack.left();
        List<GpuId> victims = policy.victims(view, count);
        int weighed = count;
        if (byKind.containsKey(service.spec().service())) {
            List<GpuState> enough = enough(service, victims, lack);
            weighed = enough.size();
            victims = helpful(enough, lack);
            count = victims.size();
        }
        victims = new BundleReclaim(builder).enough(victims, count, unit -> suits.test(service, unit));
        builder.listener().reclaimed(view, weighed, victims);
        ReplicaReasons.Shortage shortage = reasons.shortage(service, need);
        String cause = ": " + service.spec().service() + " " + shortage.inWords(" (", ")") + "; policy "
                + policy.info().name() + " takes these loans first"
                + (selective ? among(service) : "");
        new JobChanges(builder, settings)
                .takeBack(
                        victims,
                        back -> reasons.of(service, need, shortage, back.inWords() + cause, back.numbers(Map.of())));
    }

    /** The first of these loans that make up for missing replicas. */
    private List<GpuState> enough(ServiceState service, List<GpuId> loans, MissingReplicas lack) {
        List<GpuState> enough = new ArrayList<>();
        for (GpuId loan : loans) {
            GpuState unit = builder.gpu(loan);
            if (lack.isAny() && suits.test(service, unit)) {
                enough.add(unit);
                lack.found(unit);
            }
        }
        return enough;
    }

    /** The loans among these that help: not a slow GPU where a faster one behind it is enough. */
    private static List<GpuId> helpful(List<GpuState> loans, MissingReplicas lack) {
        Deque<GpuId> helpful = new ArrayDeque<>();
        for (int i = loans.size() - 1; i >= 0; i--) {
            if (!lack.leaveOut(loans.get(i))) {
                helpful.addFirst(loans.get(i).gpuId());
            }
        }
        return List.copyOf(helpful);
    }

    /** The loans that a reclaim chooses from, where it is not all of them. */
    private String among(ServiceState service) {
        if (isLimited.test(service)) {
            return " of those that the quota of its queue allows";
        }
        if (service.starts().waitAnywhere()) {
            return " of those that it can use, on nodes that can run its program";
        }
        return byKind.containsKey(service.spec().service())
                ? " of those of the kinds that it declares"
                : " of those with the memory that a replica needs";
    }
}
