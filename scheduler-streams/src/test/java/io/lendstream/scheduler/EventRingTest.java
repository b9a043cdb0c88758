package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EventRingTest {
    private static final int PIECE = 256 << 10;

    private record Put(DomainId domain, long sequence, ByteBuffer event) {}

    /** Of random events of several domains, what is found is right, and it is always the newest ones. */
    @Test
    void theNewestEventsAreFound() {
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            int most = 1 + random.nextInt(60);
            int pieces = 1 + random.nextInt(4);
            int longest = random.nextBoolean() ? 200 : PIECE;
            EventRing ring = new EventRing(most, pieces);
            List<Put> puts = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                byte[] event = new byte[random.nextInt(longest + 1)];
                random.nextBytes(event);
                Put put = new Put(new DomainId("d" + random.nextInt(3)), i, ByteBuffer.wrap(event));
                ring.put(put.domain(), put.sequence(), event);
                puts.add(put);
                if (i % 20 == 0) {
                    assertFound(ring, puts, most, pieces);
                }
            }
        }
    }

    private static void assertFound(EventRing ring, List<Put> puts, int most, int pieces) {
        int found = 0;
        long bytes = 0;
        boolean isOver = false;
        for (int i = puts.size() - 1; i >= 0; i--) {
            Put put = puts.get(i);
            Optional<byte[]> event = ring.find(put.domain(), put.sequence());
            isOver |= event.isEmpty();
            Optional<ByteBuffer> expected = isOver ? Optional.empty() : Optional.of(put.event());
            assertThat(event.map(ByteBuffer::wrap)).isEqualTo(expected);
            found += isOver ? 0 : 1;
            bytes += isOver ? 0 : put.event().remaining();
        }
        // A piece ends where the next event does not fit in, and what is left of the oldest one is being replaced.
        boolean isFull = bytes + longest(puts) * (pieces + 1L) >= (long) pieces * PIECE;
        assertThat(found == Math.min(most, puts.size()) || isFull)
                .as("%d of %d events, %d bytes", found, puts.size(), bytes)
                .isTrue();
    }

    private static int longest(List<Put> puts) {
        return puts.stream().mapToInt(put -> put.event().remaining()).max().orElse(0);
    }

    @Test
    void anEventThatIsTooLongIsNotKept() {
        EventRing ring = new EventRing(10, 2);
        DomainId domain = new DomainId("one");
        ring.put(domain, 1, new byte[PIECE]);
        ring.put(domain, 2, new byte[PIECE + 1]);

        assertThat(ring.find(domain, 1)).isPresent();
        assertThat(ring.find(domain, 2)).isEmpty();
        assertThat(ring.find(new DomainId("two"), 1)).isEmpty();
    }
}
