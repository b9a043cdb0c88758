package io.lendstream.schemas.codec.mapping;

/** One direction each for a value that is there. */
public interface Mapping {
    /** The value on the wire. */
    Object encode(Object value);

    /** The value that this stands for. */
    Object decode(Object wire);
}
