package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Function;

/**
 * Requests that wait come before expected ones: services that serve their present load with fewer replicas than they
 * have, give the others to a service whose requests wait and for which nothing else is left. The one with most of them
 * gives first.
 */
final class WaitingFirst {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final Function<ServiceState, ReplicaNeed> needs;
    private final BiPredicate<ServiceState, GpuState> suits;

    /** The replicas of a service that work beyond its present need. */
    private record Spare(ServiceState service, List<GpuState> units) {}

    /**
     * @param needs the need of a service whose replicas are alike
     * @param suits whether a service may use a unit once it is released
     */
    WaitingFirst(
            StepBuilder builder,
            SchedulerSettings settings,
            Function<ServiceState, ReplicaNeed> needs,
            BiPredicate<ServiceState, GpuState> suits) {
        this.builder = builder;
        this.settings = settings;
        this.needs = needs;
        this.suits = suits;
    }

    /** The replicas that a service needs whatever is expected. */
    static int present(ReplicaNeed need) {
        return Math.max(need.now(), need.floor()) + need.more();
    }

    /**
     * Stops replicas of other services; returns how many.
     *
     * @param most replicas that the service lacks for its present need
     */
    int take(ServiceState service, ReplicaReasons reasons, ReplicaNeed need, int most) {
        List<Spare> spares = spares(service);
        Map<ServiceId, List<GpuState>> taken = new TreeMap<>();
        for (int count = 0; count < most; count++) {
            Optional<Spare> next = spares.stream()
                    .filter(spare -> !spare.units().isEmpty())
                    .max(Comparator.comparingInt((Spare spare) -> spare.units().size())
                            .thenComparing(spare -> spare.service().spec().service(), Comparator.reverseOrder()));
            if (next.isEmpty()) {
                break;
            }
            List<GpuState> units = next.get().units();
            taken.computeIfAbsent(next.get().service().spec().service(), any -> new ArrayList<>())
                    .add(units.remove(units.size() - 1));
        }
        ReplicaReasons.Shortage shortage = reasons.shortage(service, need);
        taken.forEach((name, units) -> {
            List<GpuId> gpus = units.stream().map(GpuState::gpuId).sorted().toList();
            String text = "%s stops %s, which only expected requests need: requests of %s wait, and it %s"
                    .formatted(
                            name,
                            Reason.counted(gpus.size(), "replica"),
                            service.spec().service(),
                            shortage.inWords(" (", ")"));
            new ReplicaChanges(builder, settings)
                    .stop(
                            name,
                            gpus,
                            reasons.of(service, need, shortage, text, Map.of("idled", (double) gpus.size())));
        });
        return taken.values().stream().mapToInt(List::size).sum();
    }

    private List<Spare> spares(ServiceState forService) {
        List<Spare> spares = new ArrayList<>();
        for (ServiceState other : builder.services().values()) {
            if (other.spec().service().equals(forService.spec().service())
                    || other.spec().hasGroups()
                    || KindNeed.isFor(builder, other)) {
                continue;
            }
            List<GpuState> serving = new ArrayList<>();
            for (Map.Entry<Replica, GpuState> replica :
                    builder.clusterIndex().gpus().replicasOf(other.spec().service())) {
                GpuState now = builder.gpu(replica.getValue().gpuId());
                if (now.owner().isServing() && now.isWhole() && now.part().isEmpty()) {
                    serving.add(now);
                }
            }
            int spare = serving.size() - present(needs.apply(other));
            if (spare > 0) {
                serving.removeIf(unit -> !suits.test(forService, unit));
                serving.sort(Comparator.comparing(GpuState::gpuId));
                spares.add(new Spare(
                        other,
                        new ArrayList<>(serving.subList(Math.max(0, serving.size() - spare), serving.size()))));
            }
        }
        return spares;
    }
}
