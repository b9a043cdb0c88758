package io.lendstream.core.state;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Something and its time: the key of an index of due times. Sorts by time. */
public record DueKey<K extends Comparable<K>>(Instant at, K what) implements Comparable<DueKey<K>> {
    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DueKey<?> key && at.equals(key.at) && what.equals(key.what);
    }

    @Override
    public int hashCode() {
        return 31 * at.hashCode() + what.hashCode();
    }

    @Override
    public int compareTo(DueKey<K> other) {
        int order = at.compareTo(other.at);
        return order != 0 ? order : what.compareTo(other.what);
    }
}
