package io.lendstream.schemas.codec.mapping;

/** A case without components is always the same. */
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
