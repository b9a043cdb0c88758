package io.lendstream.scheduler;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;

/**
 * Limits which domains of this instance appear in metrics. Anyone who may write an input can invent a domain, and the
 * number of time series must not grow with that. The first domains get a label of their own; all others are summed up
 * under {@code other}.
 */
final class DomainLabels {
    static final String OTHER = "other";

    private final MeterRegistry registry;
    private final int most;
    private final Set<Domain> named = ConcurrentHashMap.newKeySet();
    private final Set<Domain> others = ConcurrentHashMap.newKeySet();
    private final List<Gauge> gauges = new ArrayList<>();

    /** @param most domains with a label of their own */
    DomainLabels(MeterRegistry registry, int most) {
        this.registry = registry;
        this.most = most;
    }

    /** Whether a domain has a label of its own; a domain without one counts as {@code other} from now on. */
    synchronized boolean take(Domain domain) {
        if (named.size() < most && !domain.id().value().equals(OTHER)) {
            named.add(domain);
            return true;
        }
        others.add(domain);
        if (gauges.isEmpty()) {
            sumUp();
        }
        return false;
    }

    /** Removes a domain that this instance no longer has. */
    synchronized void giveBack(Domain domain) {
        named.remove(domain);
        others.remove(domain);
        if (others.isEmpty()) {
            gauges.forEach(registry::remove);
            gauges.clear();
        }
    }

    private void sumUp() {
        Tags tags = Tags.of("domain", OTHER);
        DomainGauges.makeSums((name, more, value) -> gauge(name, tags.and(more), value));
    }

    private void gauge(String name, Tags tags, ToDoubleFunction<Domain> value) {
        gauges.add(Gauge.builder(
                        name, others, all -> all.stream().mapToDouble(value).sum())
                .tags(tags)
                .strongReference(true)
                .register(registry));
    }
}
