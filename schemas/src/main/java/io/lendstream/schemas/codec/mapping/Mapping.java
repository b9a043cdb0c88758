package io.lendstream.schemas.codec.mapping;

import org.jspecify.annotations.Nullable;

/** Maps a value to its wire form and back. */
public interface Mapping {
    /** The value on the wire; null if it is absent. */
    @Nullable
    Object encode(Object value);

    /** The value for a wire value. */
    Object decode(Object wire);
}
