package io.lendstream.core.scheduler;

import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.WarmReplica;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/** The warm replicas that other services may give to one that asks. Nothing is decided before {@link #stop}. */
interface ReplicaGivers {
    /** Those that are protected come first, then small ones, then those that became what they are last. */
    Comparator<WarmReplica> LEAST_FIRST = Comparator.comparing(WarmReplica::isServing)
            .thenComparingInt(replica -> replica.units().size())
            .thenComparing(replica -> replica.first().since(), Comparator.reverseOrder())
            .thenComparing(replica -> replica.first().gpuId());

    /** Replicas that might be given, in the order in which they are asked for. */
    List<WarmReplica> candidates();

    List<WarmReplica> given();

    /** Gives a replica if its service may lose it. */
    boolean give(WarmReplica replica);

    /** Does not give a replica after all. None of its units may be counted for the service that asks. */
    void takeBack(WarmReplica replica);

    /** Whether the service that asks may gain units, beside those that it has gained. */
    boolean mayGain(List<GpuState> units);

    /** Counts units for the service that asks. */
    void gain(List<GpuState> units);

    /** Whether services of single GPUs get units of a replica here; for others they ask elsewhere. */
    boolean isForSingles(WarmReplica replica);

    /**
     * Stops the replicas that are given, in their order.
     *
     * @param lacks what the service that asks lacks, such as {@code 1 replica}
     */
    void stop(String lacks);

    /**
     * Gives replicas to a service of single GPUs until so many units are gained, or no more may be; returns these
     * units.
     *
     * @param helps whether the service that asks can use a unit
     */
    default List<GpuState> giveUnits(Predicate<GpuState> helps, int most) {
        int gained = 0;
        for (WarmReplica replica : candidates()) {
            int theirs = helping(replica, helps).size();
            if (isForSingles(replica) && theirs > 0 && gained < most && give(replica)) {
                gained += theirs;
            }
        }
        for (WarmReplica replica : List.copyOf(given())) {
            int theirs = helping(replica, helps).size();
            if (gained - theirs >= most) {
                takeBack(replica);
                gained -= theirs;
            }
        }
        List<GpuState> units = new ArrayList<>();
        for (WarmReplica replica : List.copyOf(given())) {
            int before = units.size();
            for (GpuState unit : helping(replica, helps)) {
                if (units.size() < most && mayGain(List.of(unit))) {
                    gain(List.of(unit));
                    units.add(unit);
                }
            }
            if (units.size() == before) {
                takeBack(replica);
            }
        }
        return units;
    }

    /** Replicas in their order, those of one service that follow each other together. */
    static List<List<WarmReplica>> byService(List<WarmReplica> replicas) {
        List<List<WarmReplica>> all = new ArrayList<>();
        for (WarmReplica replica : replicas) {
            List<WarmReplica> last = all.isEmpty() ? List.of() : all.get(all.size() - 1);
            if (last.isEmpty() || !last.get(0).service().equals(replica.service())) {
                last = new ArrayList<>();
                all.add(last);
            }
            last.add(replica);
        }
        return all;
    }

    /** Whether all units of a replica are whole GPUs that can be given new work. */
    static boolean isUsable(StepBuilder builder, AbilityGuard abilities, WarmReplica replica) {
        return replica.units().stream()
                .allMatch(unit -> unit.isWhole() && builder.isReachable(unit) && abilities.isUsable(unit));
    }

    private static List<GpuState> helping(WarmReplica replica, Predicate<GpuState> helps) {
        return replica.units().stream().filter(helps).toList();
    }
}
