package io.lendstream.scheduler;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.id.DomainId;
import io.lendstream.service.text.EventGist;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The last events of all domains of a task in short, apart from samples. One bound holds for all domains together, so
 * that memory does not grow with their number. Events that were asked for stay longest.
 */
final class EventMemory {
    private final Map<EventId, Supplier<KeptInput>> events;

    private record EventId(DomainId domain, long sequence) {}

    /** @param most events of all domains that are remembered */
    EventMemory(int most) {
        events = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<EventId, Supplier<KeptInput>> eldest) {
                return size() > most;
            }
        };
    }

    void take(DomainEvent event) {
        if (event.event().asTelemetry().isEmpty()
                && event.event().asSampleSummary().isEmpty()) {
            events.put(new EventId(event.domain(), event.sequence()), remembered(event));
        }
    }

    /** Most events are rates and forecasts, which are small. Few decisions rest on them, so their words can wait. */
    private static Supplier<KeptInput> remembered(DomainEvent event) {
        if (event.event().heardService().isPresent()) {
            return () -> inShort(event);
        }
        KeptInput words = inShort(event);
        return () -> words;
    }

    /** An event in short; empty if it is forgotten. */
    Optional<KeptInput> find(DomainId domain, long sequence) {
        return Optional.ofNullable(events.get(new EventId(domain, sequence))).map(Supplier::get);
    }

    static KeptInput inShort(DomainEvent event) {
        return new KeptInput(
                event.sequence(),
                event.at(),
                EventGist.kind(event.event()),
                event.origin(),
                EventGist.of(event.event()));
    }
}
