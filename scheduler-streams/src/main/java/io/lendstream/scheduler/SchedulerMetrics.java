package io.lendstream.scheduler;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Event;
import io.lendstream.schemas.topics.Topic;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The scheduler's counters and timers. */
final class SchedulerMetrics {
    private final MeterRegistry registry;
    private final Timer stepTime;
    private final Timer lag;
    private final Counter drift;
    private final Counter missedForecasts;
    private final Counter missingSnapshots;
    private final Counter held;
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
        missedForecasts = registry.counter("lendstream.forecasts.missed");
        missingSnapshots = registry.counter("lendstream.snapshots.failed");
        held = registry.counter("lendstream.samples.held");
        startAtZero();
    }

    /** Registers each counter before its first event, so that rates and alerts see that event. */
    private void startAtZero() {
        for (Class<?> type : Event.class.getPermittedSubclasses()) {
            events(type);
        }
        Decision.ALL_COUNTED_AS.forEach(this::decisions);
        for (EntryKind kind : EntryKind.values()) {
            setAside(kind);
        }
    }

    /** The same for the counters of the topics that are read. */
    void startAtZero(Collection<Topic<?>> inputs) {
        for (Topic<?> input : inputs) {
            duplicates(input.suffix());
            ignoredTombstones(input.suffix());
            for (Poison.Kind reason : Poison.Kind.values()) {
                deadLetters(input.suffix(), reason);
            }
        }
    }

    private Counter events(Class<?> type) {
        return events.computeIfAbsent(
                type, event -> registry.counter("lendstream.events", "type", event.getSimpleName()));
    }

    private Counter decisions(String kind) {
        return registry.counter("lendstream.decisions", "kind", kind);
    }

    private Counter setAside(EntryKind kind) {
        return registry.counter(
                "lendstream.state.entries.set.aside", "kind", kind.name().toLowerCase(Locale.ROOT));
    }

    private Counter duplicates(String topic) {
        return registry.counter("lendstream.duplicates", "topic", topic);
    }

    private Counter ignoredTombstones(String topic) {
        return registry.counter("lendstream.tombstones.ignored", "topic", topic);
    }

    private Counter deadLetters(String topic, Poison.Kind reason) {
        return registry.counter(
                "lendstream.dead.letters",
                "topic",
                topic,
                "reason",
                reason.name().toLowerCase(Locale.ROOT));
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
        events(event.getClass()).increment();
    }

    /**
     * Counts an actuator's ownership report that differed from the scheduler's state and changed who has these GPUs.
     */
    void drifted(int gpus) {
        drift.increment(gpus);
    }

    void decided(Decision decision, Duration sinceArrival) {
        decisions(decision.countedAs()).increment();
        lag.record(sinceArrival.isNegative() ? Duration.ZERO : sinceArrival);
    }

    /** Counts a record that was read. */
    void taken(Instant now) {
        condition.taken(now);
    }

    /** Counts a record that was refused. */
    void dead(String topic, Poison poison, Instant now) {
        condition.refused(topic, poison, now);
        deadLetters(topic, poison.kind()).increment();
    }

    void duplicate(String topic) {
        duplicates(topic).increment();
    }

    /** Counts an entry of the state that could not be used at the start. */
    void wasSetAside(EntryKind kind) {
        setAside(kind).increment();
    }

    void ignoredTombstone(String topic) {
        ignoredTombstones(topic).increment();
    }

    void wentOnWithoutForecast() {
        missedForecasts.increment();
    }

    /** Counts a snapshot that could not be written. */
    void snapshotFailed() {
        missingSnapshots.increment();
    }

    /** Counts a sample that changed nothing, which the log has only in a sum. */
    void held() {
        held.increment();
    }

    Timer stepTime() {
        return stepTime;
    }
}
