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
 * memory does not grow with their number.
 *
 * <p>An event is kept as the bytes that were written to the log, as few decisions rest on most events. Those that were
 * asked for are kept in words, and longest.
 */
final class EventMemory {
    /** 8 MB: more than 20,000 rates take. */
    private static final int CHUNKS = 32;

    /** Of so many events that are remembered, one is kept in words. */
    private static final int ONE_IN_WORDS_OF = 10;

    private final EventRing events;
    private final Map<EventId, KeptInput> words;
    private final Function<byte[], DomainEvent> decoder;

    private record EventId(DomainId domain, long sequence) {}

    /**
     * @param most events of all domains that are remembered
     * @param decoder reads an event as it was written to the log
     */
    EventMemory(int most, Function<byte[], DomainEvent> decoder) {
        this.decoder = decoder;
        this.events = new EventRing(most, CHUNKS);
        int mostWords = Math.max(1, most / ONE_IN_WORDS_OF);
        this.words = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<EventId, KeptInput> eldest) {
                return size() > mostWords;
            }
        };
    }

    /** @param logged the event as it is written to the log */
    void take(DomainEvent event, byte[] logged) {
        if (event.event().asTelemetry().isEmpty()
                && event.event().asSampleSummary().isEmpty()) {
            events.put(event.domain(), event.sequence(), logged);
        }
    }

    /** An event in short; empty if it is forgotten. */
    Optional<KeptInput> find(DomainId domain, long sequence) {
        EventId id = new EventId(domain, sequence);
        Optional<KeptInput> known = Optional.ofNullable(words.get(id));
        if (known.isPresent()) {
            return known;
        }
        Optional<KeptInput> found = events.find(domain, sequence).map(logged -> inShort(decoder.apply(logged)));
        found.ifPresent(now -> words.put(id, now));
        return found;
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
