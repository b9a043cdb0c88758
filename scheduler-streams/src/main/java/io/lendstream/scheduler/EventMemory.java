package io.lendstream.scheduler;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.id.DomainId;
import io.lendstream.service.text.EventGist;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The last events of all domains of a task, apart from samples. One bound holds for all domains together, so that
 * memory does not grow with their number. Events that were asked for stay longest.
 *
 * <p>An event is kept as the bytes that were written to the log. Few decisions rest on most events; thousands of events
 * a second, kept as objects or put into words, would make each pause for memory longer.
 */
final class EventMemory {
    private final Map<EventId, Remembered> events;
    private final Function<byte[], DomainEvent> decoder;

    private record EventId(DomainId domain, long sequence) {}

    /**
     * @param most events of all domains that are remembered
     * @param decoder reads an event as it was written to the log
     */
    EventMemory(int most, Function<byte[], DomainEvent> decoder) {
        this.decoder = decoder;
        events = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<EventId, Remembered> eldest) {
                return size() > most;
            }
        };
    }

    /** @param logged the event as it is written to the log */
    void take(DomainEvent event, byte[] logged) {
        if (event.event().asTelemetry().isEmpty()
                && event.event().asSampleSummary().isEmpty()) {
            events.put(new EventId(event.domain(), event.sequence()), new Remembered(logged));
        }
    }

    /** An event that is put into words once, however many decisions rest on it. */
    private static final class Remembered {
        private byte[] logged;
        private Optional<KeptInput> words = Optional.empty();

        Remembered(byte[] logged) {
            this.logged = logged;
        }

        KeptInput words(Function<byte[], DomainEvent> decoder) {
            if (words.isEmpty()) {
                words = Optional.of(inShort(decoder.apply(logged)));
                logged = new byte[0];
            }
            return words.get();
        }
    }

    /** An event in short; empty if it is forgotten. */
    Optional<KeptInput> find(DomainId domain, long sequence) {
        return Optional.ofNullable(events.get(new EventId(domain, sequence))).map(found -> found.words(decoder));
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
