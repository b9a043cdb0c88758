package io.lendstream.schemas.codec.mapping;

/** Maps a boolean, or a number without bounds. */
record ScalarMapping() implements Mapping {
    @Override
    public Object encode(Object value) {
        return value;
    }

    @Override
    public Object decode(Object wire) {
        return wire;
    }
}
