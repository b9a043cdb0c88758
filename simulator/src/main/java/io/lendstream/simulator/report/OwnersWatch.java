package io.lendstream.simulator.report;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.report.Bins.Bin;
import io.lendstream.simulator.report.ReportedRun.Loans;
import io.lendstream.simulator.report.ReportedRun.OwnerSample;
import io.lendstream.simulator.report.ReportedRun.Turnover;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Who held the GPUs in the course of a run. */
final class OwnersWatch {
    private final Function<ServiceId, Optional<ServiceWatch>> watches;
    private final Map<OwnerGroup, Steps> groups = new EnumMap<>(OwnerGroup.class);
    private final Map<GpuId, Held> holdings = new HashMap<>();
    /** MIG instances as shares of their GPUs. */
    private final Map<GpuId, Double> shares = new HashMap<>();

    private Instant ownersAt = Instant.MIN;

    /** @param watches of the services whose replicas are shown */
    OwnersWatch(Function<ServiceId, Optional<ServiceWatch>> watches) {
        this.watches = watches;
    }

    /**
     * How a unit is held.
     *
     * @param gpus the unit in GPUs
     */
    private record Held(OwnerGroup group, Optional<ServiceId> service, double gpus) {}

    /** Learns which units are MIG instances. Until then, one counts as a GPU. */
    void learn(Node node) {
        for (Gpu gpu : node.gpus()) {
            gpu.instances().forEach(instance -> shares.put(instance.gpuId(), gpu.share(instance)));
        }
    }

    void hold(GpuId gpu, Optional<OwnerGroup> group, Optional<ServiceId> service, Instant at) {
        if (groups.isEmpty()) {
            for (OwnerGroup each : OwnerGroup.values()) {
                groups.put(each, new Steps(at));
            }
        }
        // A lease that arrives late changes all groups at once, now, so that no GPU counts twice in between.
        ownersAt = at.isAfter(ownersAt) ? at : ownersAt;
        Optional<Held> before = Optional.ofNullable(holdings.remove(gpu));
        boolean same = before.map(Held::group).equals(group)
                && before.flatMap(Held::service).equals(service);
        double gpus = same ? before.map(Held::gpus).orElse(1.0) : shares.getOrDefault(gpu, 1.0);
        if (!same) {
            before.ifPresent(held -> {
                steps(held.group()).add(ownersAt, -held.gpus());
                held.service().flatMap(watches).ifPresent(watch -> watch.replicas(ownersAt, -1));
            });
            group.ifPresent(each -> steps(each).add(ownersAt, gpus));
            service.flatMap(watches).ifPresent(watch -> watch.replicas(ownersAt, 1));
        }
        group.ifPresent(each -> holdings.put(gpu, new Held(each, service, gpus)));
    }

    private Steps steps(OwnerGroup group) {
        return groups.computeIfAbsent(group, each -> new Steps(ownersAt));
    }

    void upTo(Instant now) {
        groups.values().forEach(steps -> steps.upTo(now));
        ownersAt = now;
    }

    /** The width of the widest bins; at least as wide as given. */
    long widthMillis(long least) {
        long width = least;
        for (Steps steps : groups.values()) {
            width = Math.max(width, steps.bins().widthMillis());
        }
        return width;
    }

    List<OwnerSample> owners(long widthMillis) {
        Map<Instant, Map<OwnerGroup, Double>> samples = new TreeMap<>();
        groups.forEach((group, steps) -> {
            for (Bin bin : steps.bins().bins(widthMillis)) {
                samples.computeIfAbsent(bin.at(), at -> new EnumMap<>(OwnerGroup.class))
                        .put(group, bin.mean());
            }
        });
        return samples.entrySet().stream()
                .map(sample -> new OwnerSample(sample.getKey(), sample.getValue()))
                .toList();
    }

    Loans loans(LoansWatch loans, List<Turnover> turnover, long widthMillis) {
        double lentMillis = Optional.ofNullable(groups.get(OwnerGroup.LENT)).stream()
                .flatMap(steps -> steps.bins().bins(widthMillis).stream())
                .mapToDouble(Bin::amount)
                .sum();
        return new Loans(
                lentMillis / Duration.ofHours(1).toMillis(),
                loans.ended(),
                (int) holdings.values().stream()
                        .filter(held -> held.group() == OwnerGroup.LENT)
                        .count(),
                loans.meanSeconds(),
                loans.longestSeconds(),
                turnover);
    }
}
