package io.lendstream.scheduler;

import io.lendstream.core.cluster.ClusterState;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.Owner;
import io.lendstream.core.cluster.Pacing;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/** What can be seen of each domain that this task has: read from its state when somebody asks. */
final class DomainGauges implements AutoCloseable {
    private final MeterRegistry registry;
    private final Map<DomainId, Domain> watched = new HashMap<>();
    private final List<Gauge> gauges = new ArrayList<>();

    DomainGauges(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Shows a domain, if it is not shown yet. */
    void watch(Domain domain) {
        if (watched.putIfAbsent(domain.id(), domain) != null) {
            return;
        }
        Tags tags = Tags.of("domain", domain.id().value());
        for (String owner : Owner.LABELS) {
            gauge("lendstream.gpus", domain, tags.and("owner", owner), state -> owned(state, owner));
        }
        gauge("lendstream.epoch", domain, tags, ClusterState::epoch);
        gauge("lendstream.frozen", domain, tags, state -> state.mode().frozen() ? 1 : 0);
        gauge("lendstream.advisory", domain, tags, state -> state.mode().advisory() ? 1 : 0);
        gauge("lendstream.lending.stopped", domain, tags, state -> state.mode().lendingStopped() ? 1 : 0);
        gauge(
                "lendstream.transfers.most",
                domain,
                tags,
                state -> state.pacing()
                        .map(Pacing::transfers)
                        .map(Integer::doubleValue)
                        .orElse(Double.NaN));
    }

    private void gauge(String name, Domain domain, Tags tags, ToDoubleFunction<ClusterState> value) {
        gauges.add(Gauge.builder(name, domain, each -> value.applyAsDouble(each.state()))
                .tags(tags)
                .strongReference(true)
                .register(registry));
    }

    private static double owned(ClusterState state, String owner) {
        return state.gpus().stream()
                .filter(gpu -> Objects.equals(gpu.owner().label(), owner))
                .count();
    }

    @Override
    public void close() {
        gauges.forEach(registry::remove);
        gauges.clear();
        watched.clear();
    }
}
