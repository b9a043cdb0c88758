package io.lendstream.core.persistent;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A value that can be computed from the record that it is a part of, and is kept to save the time. Two records are
 * equal whether or not one of them has it.
 */
public final class Cached {
    public static final Cached NOTHING = new Cached(null);

    private final @Nullable Object value;

    private Cached(@Nullable Object value) {
        this.value = value;
    }

    public static Cached of(Object value) {
        return new Cached(value);
    }

    /** The value; empty if there is none. */
    public <T> Optional<T> as(Class<T> type) {
        return Optional.ofNullable(value).map(type::cast);
    }

    public boolean isNothing() {
        return value == null;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Cached;
    }

    @Override
    public int hashCode() {
        return 0;
    }

    @Override
    public String toString() {
        return "Cached";
    }
}
