package io.lendstream.schemas.codec.mapping;

/** Maps a case without components, which is a constant. */
record ConstantMapping(Object value) implements Mapping {
    @Override
    public Object encode(Object ignored) {
        throw new IllegalStateException("a case without components has no field");
    }

    @Override
    public Object decode(Object ignored) {
        return value;
    }
}
