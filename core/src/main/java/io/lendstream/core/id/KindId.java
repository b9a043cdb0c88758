package io.lendstream.core.id;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The name of a kind of GPU, such as {@code A100-SXM4-80GB}. GPUs of one kind are alike in speed and memory. */
public record KindId(String value) implements Comparable<KindId> {
    private static final Pattern MEMORY = Pattern.compile("(\\d{1,5})-?GB", Pattern.CASE_INSENSITIVE);

    public KindId {
        Names.check("KindId", value);
        // Plans compare the kinds of all GPUs. Equal names that are one text are compared at once.
        value = value.intern();
    }

    /** The memory of a GPU, in bytes, by the last GiB in the name; empty if the name has none. */
    public Optional<Long> memoryBytes() {
        Optional<Long> bytes = Optional.empty();
        Matcher memory = MEMORY.matcher(value);
        while (memory.find()) {
            bytes = Optional.of(Long.parseLong(memory.group(1)) << 30);
        }
        return bytes;
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
