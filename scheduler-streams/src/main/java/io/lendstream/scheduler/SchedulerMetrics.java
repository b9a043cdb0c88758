package io.lendstream.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Event;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The scheduler's counters and timers. */
final class SchedulerMetrics {
    private final MeterRegistry registry;
    private final Timer stepTime;
    private final Timer lag;
    private final Counter drift;
    private final Map<Class<?>, Counter> events = new ConcurrentHashMap<>();
    private final InstanceCondition condition = new InstanceCondition();
    private final DomainLabels labels;

    SchedulerMetrics(MeterRegistry registry) {
        this(registry, SchedulerKeys.DEFAULT_LABELLED_DOMAINS);
    }

    /** @param labelledDomains domains with a label of their own; further domains are counted together */
    SchedulerMetrics(MeterRegistry registry, int labelledDomains) {
        this.registry = registry;
        labels = new DomainLabels(registry, labelledDomains);
        registry.gauge("lendstream.refused.share", condition, each -> each.refusedShare(Instant.now()));
        stepTime =
                Timer.builder("lendstream.step").publishPercentiles(0.5, 0.99).register(registry);
        lag = Timer.builder("lendstream.decision.lag")
                .publishPercentiles(0.5, 0.99)
                .register(registry);
        drift = registry.counter("lendstream.ownership.drift.gpus");
    }

    /** Registers the gauges of one task's domains. */
    DomainGauges gauges() {
        return new DomainGauges(registry, labels);
    }

    /** Registers the gauges of this instance's condition. */
    InstanceCondition condition() {
        return condition;
    }

    void accepted(Event event) {
        events.computeIfAbsent(
                        event.getClass(), type -> registry.counter("lendstream.events", "type", type.getSimpleName()))
                .increment();
    }

    /**
     * Counts an actuator's ownership report that differed from the scheduler's state and changed who has these GPUs.
     */
    void drifted(int gpus) {
        drift.increment(gpus);
    }

    void decided(Decision decision, Duration sinceArrival) {
        registry.counter("lendstream.decisions", "kind", decision.countedAs()).increment();
        lag.record(sinceArrival.isNegative() ? Duration.ZERO : sinceArrival);
    }

    /** Counts a record that was read. */
    void taken(Instant now) {
        condition.taken(now);
    }

    /** Counts a record that was refused. */
    void dead(String topic, Poison poison, Instant now) {
        condition.refused(topic, poison, now);
        registry.counter(
                        "lendstream.dead.letters",
                        "topic",
                        topic,
                        "reason",
                        poison.kind().name().toLowerCase(Locale.ROOT))
                .increment();
    }

    void duplicate(String topic) {
        registry.counter("lendstream.duplicates", "topic", topic).increment();
    }

    /** Counts an entry of the state that could not be used at the start. */
    void setAside(String kind) {
        registry.counter("lendstream.state.entries.set.aside", "kind", kind).increment();
    }

    void ignoredTombstone(String topic) {
        registry.counter("lendstream.tombstones.ignored", "topic", topic).increment();
    }

    void wentOnWithoutForecast() {
        registry.counter("lendstream.forecasts.missed").increment();
    }

    Timer stepTime() {
        return stepTime;
    }
}
