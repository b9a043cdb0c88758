package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EventMemoryTest {
    private static final DomainId ONE = new DomainId("one");
    private static final DomainId TWO = new DomainId("two");

    private final List<DomainEvent> logged = new ArrayList<>();
    private int decoded;

    @Test
    void oneBoundHoldsForAllDomains() {
        EventMemory memory = memory(3);
        take(memory, ONE, 1);
        take(memory, ONE, 2);
        take(memory, TWO, 1);
        take(memory, TWO, 2);

        assertThat(memory.find(ONE, 1)).isEmpty();
        assertThat(memory.find(ONE, 2)).map(KeptInput::sequence).contains(2L);
        assertThat(memory.find(TWO, 1)).isPresent();
        assertThat(memory.find(TWO, 2)).isPresent();
    }

    @Test
    void eventsThatWereAskedForStayLongest() {
        EventMemory memory = memory(2);
        take(memory, ONE, 1);
        take(memory, ONE, 2);
        memory.find(ONE, 1);
        take(memory, ONE, 3);
        take(memory, ONE, 4);

        assertThat(memory.find(ONE, 2)).isEmpty();
        assertThat(memory.find(ONE, 1)).isPresent();
    }

    @Test
    void eventsArePutIntoWordsOnceHoweverManyDecisionsRestOnThem() {
        EventMemory memory = memory(2);
        Instant at = Instant.ofEpochSecond(60);
        DomainEvent rate = new DomainEvent(
                ONE,
                1,
                1,
                at,
                Optional.empty(),
                new RequestRate(
                        new ServiceId("chat"),
                        ONE,
                        "gateway",
                        "boot-1",
                        1,
                        at.minusSeconds(30),
                        at,
                        RequestRate.Requests.answered(360),
                        RequestRate.Latency.NOT_MEASURED,
                        List.of(),
                        List.of()));
        take(memory, rate);
        assertThat(decoded).isZero();

        KeptInput words = memory.find(ONE, 1).orElseThrow();

        assertThat(words.gist()).startsWith("12.0 requests/s offered to chat");
        assertThat(memory.find(ONE, 1).orElseThrow()).isSameAs(words);
        assertThat(decoded).isOne();
    }

    /** A memory whose events are logged as their number in the list of all. */
    private EventMemory memory(int most) {
        return new EventMemory(most, bytes -> {
            decoded++;
            return logged.get(bytes[0]);
        });
    }

    private void take(EventMemory memory, DomainId domain, long sequence) {
        Instant at = Instant.ofEpochSecond(sequence);
        take(memory, new DomainEvent(domain, 1, sequence, at, Optional.empty(), new Tick(domain, at)));
    }

    private void take(EventMemory memory, DomainEvent event) {
        logged.add(event);
        memory.take(event, new byte[] {(byte) (logged.size() - 1)});
    }
}
