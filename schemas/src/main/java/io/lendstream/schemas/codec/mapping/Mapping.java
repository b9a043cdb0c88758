package io.lendstream.schemas.codec.mapping;

import org.jspecify.annotations.Nullable;

/** One direction each for a value that is there. */
public interface Mapping {
    /** The value on the wire; null for what is absent. */
    @Nullable
    Object encode(Object value);

    /** The value that this stands for. */
    Object decode(Object wire);
}
