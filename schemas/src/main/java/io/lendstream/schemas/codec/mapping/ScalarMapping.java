package io.lendstream.schemas.codec.mapping;

/** A truth, or a number that may be any. */
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
