package io.lendstream.scheduler;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Pacing;
import io.lendstream.core.state.Trust;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** The gauges of each domain that this task has, read from the domain's state at each scrape. */
final class DomainGauges implements AutoCloseable {
    /** Makes a gauge of one domain, or of the sum over several domains. */
    interface Maker {
        void gauge(String name, Tags tags, ToDoubleFunction<Domain> value);
    }

    private final MeterRegistry registry;
    private final DomainLabels labels;
    private final Map<DomainId, Domain> watched = new HashMap<>();
    private final List<Gauge> gauges = new ArrayList<>();
    /** By domain, of those with a label of their own. */
    private final Map<DomainId, QueueGauges> queues = new HashMap<>();

    DomainGauges(MeterRegistry registry, DomainLabels labels) {
        this.registry = registry;
        this.labels = labels;
    }

    /** Registers a domain's gauges, unless they are registered already, and those of its new queues. */
    void watch(Domain domain) {
        if (watched.putIfAbsent(domain.id(), domain) == null && labels.take(domain)) {
            register(domain);
            queues.put(domain.id(), new QueueGauges(registry, domain));
        }
        Optional.ofNullable(queues.get(domain.id())).ifPresent(QueueGauges::watch);
    }

    private void register(Domain domain) {
        Tags tags = Tags.of("domain", domain.id().value());
        makeSums((name, more, value) -> gauge(name, domain, tags.and(more), value));
        gauge("lendstream.epoch", domain, tags, each -> each.state().epoch());
        gauge(
                "lendstream.trust.level",
                domain,
                tags,
                each -> each.state().mode().level().rank());
        gauge(
                "lendstream.late.reclaims",
                domain,
                tags,
                each -> each.state().mode().trust().map(Trust::lateReclaims).orElse(0L));
        gauge(
                "lendstream.transfers.most",
                domain,
                tags,
                each -> each.state()
                        .pacing()
                        .map(Pacing::transfers)
                        .map(Integer::doubleValue)
                        .orElse(Double.NaN));
    }

    private void gauge(String name, Domain domain, Tags tags, ToDoubleFunction<Domain> value) {
        gauges.add(Gauge.builder(name, domain, value)
                .tags(tags)
                .strongReference(true)
                .register(registry));
    }

    /** Gauges that can be summed over domains; conditions count the domains in which they hold. */
    static void makeSums(Maker maker) {
        for (String owner : Owner.LABELS) {
            maker.gauge("lendstream.gpus", Tags.of("owner", owner), domain -> owned(domain.state(), owner));
        }
        maker.gauge(
                "lendstream.gpus.with.intruders",
                Tags.empty(),
                domain -> domain.state().gpus().stream()
                        .filter(gpu -> gpu.intruders().isPresent())
                        .count());
        maker.gauge(
                "lendstream.domain.stopped",
                Tags.empty(),
                domain -> domain.stop().isPresent() ? 1 : 0);
        maker.gauge(
                "lendstream.frozen",
                Tags.empty(),
                domain -> domain.state().mode().frozen() ? 1 : 0);
        maker.gauge(
                "lendstream.advisory",
                Tags.empty(),
                domain -> domain.state().mode().advisory() ? 1 : 0);
        maker.gauge(
                "lendstream.lending.stopped",
                Tags.empty(),
                domain -> domain.state().mode().lendingStopped() ? 1 : 0);
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
        queues.values().forEach(QueueGauges::close);
        queues.clear();
        watched.values().forEach(labels::giveBack);
        watched.clear();
    }
}
