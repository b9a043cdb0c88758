package io.lendstream.core.actuation;

import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** The tenants of GPUs, by GPU, by tenant, and by the end of the lease. */
final class Holdings {
    private final Map<GpuId, Holding> byGpu = new HashMap<>();
    private final Map<Tenant, SortedSet<GpuId>> byTenant = new HashMap<>();
    private final TreeMap<Instant, SortedSet<GpuId>> byLeaseEnd = new TreeMap<>();

    Optional<Holding> of(GpuId gpu) {
        return Optional.ofNullable(byGpu.get(gpu));
    }

    SortedSet<GpuId> of(Tenant tenant) {
        return Collections.unmodifiableSortedSet(byTenant.getOrDefault(tenant, new TreeSet<>()));
    }

    /** The GPUs that a tenant has and is not leaving. */
    SortedSet<GpuId> active(Tenant tenant) {
        var active = new TreeSet<GpuId>();
        for (GpuId gpu : of(tenant)) {
            if (of(gpu).filter(holding -> holding.phase() != Holding.Phase.RELEASING)
                    .isPresent()) {
                active.add(gpu);
            }
        }
        return active;
    }

    int size() {
        return byGpu.size();
    }

    /** All of them, sorted by GPU. */
    List<Holding> all() {
        return byGpu.values().stream()
                .sorted(Comparator.comparing(Holding::gpu))
                .toList();
    }

    /** The GPUs of replicas of several units are parts of these from now on. */
    void join(Collection<ReplicaUnits> replicas) {
        for (ReplicaUnits replica : replicas) {
            for (GpuId gpu : replica.units()) {
                of(gpu).ifPresent(holding -> put(holding.in(replica)));
            }
        }
    }

    /** What runs on GPUs was started by something else, and is taken over. */
    void adopt(Collection<Adopted> found) {
        for (Adopted each : found) {
            for (GpuId gpu : each.units()) {
                of(gpu).ifPresent(holding -> put(holding.adopting(each.user())));
            }
        }
    }

    /** What something else has started on GPUs, by name. */
    List<Adopted> adopted(Collection<GpuId> gpus) {
        var units = new TreeMap<String, List<GpuId>>();
        for (GpuId gpu : gpus) {
            of(gpu).flatMap(Holding::adopted)
                    .ifPresent(user -> units.computeIfAbsent(user, any -> new ArrayList<>())
                            .add(gpu));
        }
        return units.entrySet().stream()
                .map(entry -> new Adopted(entry.getKey(), entry.getValue()))
                .toList();
    }

    /** The replicas of several units that GPUs are parts of, by name. */
    List<ReplicaUnits> replicas(Collection<GpuId> gpus) {
        var replicas = new TreeMap<ReplicaId, ReplicaUnits>();
        for (GpuId gpu : gpus) {
            of(gpu).flatMap(Holding::replica).ifPresent(replica -> replicas.put(replica.replica(), replica));
        }
        return List.copyOf(replicas.values());
    }

    void put(Holding holding) {
        remove(holding.gpu());
        byGpu.put(holding.gpu(), holding);
        byTenant.computeIfAbsent(holding.tenant(), any -> new TreeSet<>()).add(holding.gpu());
        leaseEnd(holding)
                .ifPresent(until -> byLeaseEnd
                        .computeIfAbsent(until, any -> new TreeSet<>())
                        .add(holding.gpu()));
    }

    void remove(GpuId gpu) {
        Optional.ofNullable(byGpu.remove(gpu)).ifPresent(holding -> {
            drop(byTenant, holding.tenant(), gpu);
            leaseEnd(holding).ifPresent(until -> drop(byLeaseEnd, until, gpu));
        });
    }

    /**
     * Two names stand for each other from now on. Whole holdings change their names, with their leases, and so do the
     * replicas of several units that they are parts of.
     */
    void exchange(GpuId one, GpuId other) {
        Optional<Holding> first = of(one);
        Optional<Holding> second = of(other);
        remove(one);
        remove(other);
        first.ifPresent(holding -> put(holding.named(other)));
        second.ifPresent(holding -> put(holding.named(one)));
        UnaryOperator<GpuId> names = unit -> unit.equals(one) ? other : unit.equals(other) ? one : unit;
        first.ifPresent(holding -> rename(holding, names));
        if (!second.flatMap(Holding::replica).equals(first.flatMap(Holding::replica))) {
            second.ifPresent(holding -> rename(holding, names));
        }
    }

    /** Names the units of the replica that a holding is a part of by other names. */
    private void rename(Holding part, UnaryOperator<GpuId> names) {
        part.replica().ifPresent(replica -> {
            for (GpuId gpu : List.copyOf(of(part.tenant()))) {
                of(gpu).filter(holding -> part.replica().equals(holding.replica()))
                        .ifPresent(holding -> put(holding.in(replica.renamed(names))));
            }
        });
    }

    /** When the next lease ends whose GPU is not being released yet. */
    Optional<Instant> nextLeaseEnd() {
        return byLeaseEnd.isEmpty() ? Optional.empty() : Optional.of(byLeaseEnd.firstKey());
    }

    List<Holding> endingAt(Instant until) {
        var ending = new ArrayList<Holding>();
        for (GpuId gpu : byLeaseEnd.getOrDefault(until, new TreeSet<>())) {
            of(gpu).ifPresent(ending::add);
        }
        return ending;
    }

    private static Optional<Instant> leaseEnd(Holding holding) {
        return holding.phase() == Holding.Phase.RELEASING
                ? Optional.empty()
                : holding.loan().map(Holding.Loan::until);
    }

    private static <K> void drop(Map<K, SortedSet<GpuId>> index, K key, GpuId gpu) {
        SortedSet<GpuId> gpus = index.get(key);
        if (gpus != null && gpus.remove(gpu) && gpus.isEmpty()) {
            index.remove(key);
        }
    }
}
