package io.lendstream.core.state;

import java.time.Instant;

/** Something and its time: the key of an index of due times. Sorts by time. */
public record DueKey<K extends Comparable<K>>(Instant at, K what) implements Comparable<DueKey<K>> {
    @Override
    public int compareTo(DueKey<K> other) {
        int order = at.compareTo(other.at);
        return order != 0 ? order : what.compareTo(other.what);
    }
}
