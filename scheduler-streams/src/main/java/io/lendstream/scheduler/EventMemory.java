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
    private final Map<EventId, Remembered> events;

    private record EventId(DomainId domain, long sequence) {}

    /** @param most events of all domains that are remembered */
    EventMemory(int most) {
        events = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<EventId, Remembered> eldest) {
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
    private static Remembered remembered(DomainEvent event) {
        if (event.event().heardService().isPresent()) {
            return new Remembered(() -> inShort(event));
        }
        KeptInput words = inShort(event);
        return new Remembered(() -> words);
    }

    /** An event that is put into words once, however many decisions rest on it. */
    private static final class Remembered {
        private final Supplier<KeptInput> source;
        private Optional<KeptInput> words = Optional.empty();

        Remembered(Supplier<KeptInput> source) {
            this.source = source;
        }

        KeptInput words() {
            if (words.isEmpty()) {
                words = Optional.of(source.get());
            }
            return words.get();
        }
    }

    /** An event in short; empty if it is forgotten. */
    Optional<KeptInput> find(DomainId domain, long sequence) {
        return Optional.ofNullable(events.get(new EventId(domain, sequence))).map(Remembered::words);
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
