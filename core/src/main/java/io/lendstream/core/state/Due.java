package io.lendstream.core.state;

import java.time.Instant;

/** Something and its time: the key of an agenda. Sorts by time. */
public record Due<K extends Comparable<K>>(Instant at, K what) implements Comparable<Due<K>> {
    @Override
    public int compareTo(Due<K> other) {
        int order = at.compareTo(other.at);
        return order != 0 ? order : what.compareTo(other.what);
    }
}
