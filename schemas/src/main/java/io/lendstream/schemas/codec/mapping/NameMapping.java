package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;

/** Maps a name from outside, which must be valid. */
record NameMapping(String kind, String path) implements Mapping {
    @Override
    public Object encode(Object value) {
        return value;
    }

    @Override
    public Object decode(Object wire) {
        try {
            return Limits.name(kind, wire.toString());
        } catch (IllegalArgumentException e) {
            throw new OutOfBoundsException("%s is not valid: %s".formatted(path, e.getMessage()), e);
        }
    }
}
