package io.lendstream.scheduler;

import io.lendstream.core.id.QueueId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The gauges of a domain's queues, summed over the kinds of GPUs. */
final class QueueGauges {
    private final MeterRegistry registry;
    private final Domain domain;
    private final Set<QueueId> watched = new HashSet<>();
    private final List<Gauge> gauges = new ArrayList<>();
    private volatile Optional<Counted> last = Optional.empty();

    /** What the queues use after an event; kept, because a scrape reads it several times. */
    private record Counted(long event, QueueLedger ledger) {}

    QueueGauges(MeterRegistry registry, Domain domain) {
        this.registry = registry;
        this.domain = domain;
    }

    /** Registers the gauges of queues that are new. */
    void watch() {
        if (domain.state().queues().size() == watched.size()) {
            return;
        }
        for (QueueState queue : domain.state().queues().values()) {
            QueueId name = queue.spec().queue();
            if (watched.add(name)) {
                gauge("lendstream.queue.nominal.gpus", name, () -> sum(name, QuotaUse::nominal));
                gauge("lendstream.queue.used.gpus", name, () -> sum(name, QuotaUse::used));
                gauge("lendstream.queue.limit.gpus", name, () -> sum(name, QuotaUse::limit));
                gauge("lendstream.queue.refused.gpus", name, () -> refused(name));
            }
        }
    }

    private void gauge(String name, QueueId queue, Supplier<Number> value) {
        gauges.add(Gauge.builder(name, value)
                .tags(Tags.of("domain", domain.id().value(), "queue", queue.value()))
                .strongReference(true)
                .register(registry));
    }

    private double sum(QueueId queue, ToDoubleFunction<QuotaUse> part) {
        return ledger().uses(queue).stream().mapToDouble(part).sum();
    }

    private QueueLedger ledger() {
        ClusterState state = domain.state();
        Optional<Counted> known = last.filter(counted -> counted.event() == state.eventSequence());
        Counted counted = known.orElseGet(() -> new Counted(state.eventSequence(), QueueLedger.of(state.entities())));
        last = Optional.of(counted);
        return counted.ledger();
    }

    private double refused(QueueId queue) {
        return domain.state()
                .queues()
                .get(queue)
                .map(known -> (double) known.refusedGpus() + known.refusedReplicas())
                .orElse(0.0);
    }

    void close() {
        gauges.forEach(registry::remove);
        gauges.clear();
    }
}
