package io.lendstream.schemas.codec.mapping;

import org.jspecify.annotations.Nullable;

/** Maps a record in the form of its only component. */
record WrapperMapping(RecordAccess structure, Mapping value, String path) implements Mapping {
    @Override
    public @Nullable Object encode(Object wrapper) {
        return value.encode(structure.get(0, wrapper));
    }

    @Override
    public Object decode(Object wire) {
        return structure.create(path, value.decode(wire));
    }
}
