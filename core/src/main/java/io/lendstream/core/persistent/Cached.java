package io.lendstream.core.persistent;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Something that follows from the record that has it, so that it need not be made again. Records are equal whether or
 * not they have it.
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
