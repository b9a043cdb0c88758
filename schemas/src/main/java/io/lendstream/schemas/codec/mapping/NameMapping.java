package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;

/** A name from outside, which must be a legal one. */
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
