package io.lendstream.core.id;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The name of a kind of GPU, such as {@code A100-SXM4-80GB}. GPUs of one kind are alike in speed and memory. */
public record KindId(String value) implements Comparable<KindId> {
    private static final int MOST_DIGITS = 5;

    public KindId {
        Names.check("KindId", value);
        // Plans compare the kinds of all GPUs. Equal names that are one text are compared at once.
        value = value.intern();
    }

    /**
     * The memory of a GPU, in bytes, by the last GiB in the name, such as {@code 80GB} or {@code 80-GB}; empty if the
     * name has none. Read without a pattern: plans ask for it for each job and kind.
     */
    public Optional<Long> memoryBytes() {
        for (int at = value.length() - 2; at > 0; at--) {
            if (value.regionMatches(true, at, "GB", 0, 2)) {
                int end = value.charAt(at - 1) == '-' ? at - 1 : at;
                int start = end;
                while (start > 0 && end - start < MOST_DIGITS && isDigit(value.charAt(start - 1))) {
                    start--;
                }
                if (start < end) {
                    return Optional.of(Long.parseLong(value, start, end, 10) << 30);
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isDigit(char letter) {
        return letter >= '0' && letter <= '9';
    }

    /** Whether a GPU has so much memory; true if its memory is not known. */
    public boolean hasMemory(long bytes) {
        return memoryBytes().filter(memory -> memory < bytes).isEmpty();
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof KindId id && value.equals(id.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(KindId other) {
        return this == other ? 0 : value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
