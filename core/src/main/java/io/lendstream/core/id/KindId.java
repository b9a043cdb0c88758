package io.lendstream.core.id;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The name of a kind of GPU, such as {@code A100-SXM4-80GB}. GPUs of one kind are alike in speed and memory. */
public record KindId(String value) implements Comparable<KindId> {
    private static final Pattern MEMORY = Pattern.compile("(\\d{1,5})-?GB", Pattern.CASE_INSENSITIVE);

    public KindId {
        Names.check("KindId", value);
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

    @Override
    public int compareTo(KindId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
