package io.lendstream.scheduler;

import io.lendstream.core.id.DomainId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The bytes of the last events of all domains of a task. Its memory is reserved as it is first filled, and then used
 * again and again: thousands of events a second, each an object that lives for some seconds, would make each pause for
 * memory longer.
 */
final class EventRing {
    private static final int CHUNK = 256 << 10;

    private final byte[][] chunks;
    private final Map<DomainId, Integer> numbers = new HashMap<>();
    /** Of each event: its domain, its sequence, where it begins, and how long it is. The newest replace the oldest. */
    private final int[] domains;

    private final long[] sequences;
    private final long[] starts;
    private final int[] lengths;
    private long count;
    /** Where the next event begins, counted from the first that ever was. */
    private long end;

    /**
     * @param most events of all domains that are remembered
     * @param chunks how many pieces of 256 KB they may take together
     */
    EventRing(int most, int chunks) {
        this.chunks = new byte[chunks][];
        this.domains = new int[most];
        this.sequences = new long[most];
        this.starts = new long[most];
        this.lengths = new int[most];
    }

    /** Takes an event; without effect if it is longer than a piece of memory. */
    void put(DomainId domain, long sequence, byte[] event) {
        if (event.length > CHUNK) {
            return;
        }
        long left = CHUNK - end % CHUNK;
        end += event.length > left ? left : 0;
        int chunk = chunk(end);
        if (chunks[chunk] == null) {
            chunks[chunk] = new byte[CHUNK];
        }
        System.arraycopy(event, 0, chunks[chunk], (int) (end % CHUNK), event.length);
        int slot = (int) (count % domains.length);
        domains[slot] = numbers.computeIfAbsent(domain, added -> numbers.size());
        sequences[slot] = sequence;
        starts[slot] = end;
        lengths[slot] = event.length;
        count++;
        end += event.length;
    }

    private int chunk(long position) {
        return (int) (position / CHUNK % chunks.length);
    }

    /** An event; empty if it is forgotten. It looks through all events, which takes some 20 microseconds. */
    Optional<byte[]> find(DomainId domain, long sequence) {
        Integer number = numbers.get(domain);
        if (number == null) {
            return Optional.empty();
        }
        long oldest = Math.max(0, count - domains.length);
        long overwritten = end - (long) CHUNK * chunks.length;
        for (long event = count - 1; event >= oldest; event--) {
            int slot = (int) (event % domains.length);
            if (starts[slot] < overwritten) {
                return Optional.empty();
            }
            if (sequences[slot] == sequence && domains[slot] == number) {
                int start = (int) (starts[slot] % CHUNK);
                return Optional.of(Arrays.copyOfRange(chunks[chunk(starts[slot])], start, start + lengths[slot]));
            }
        }
        return Optional.empty();
    }
}
