package io.lendstream.schemas.codec.mapping;

import java.util.Map;

/** A constant of an enum. */
record ChoiceMapping(Map<String, Object> constants, Map<Object, Object> wire) implements Mapping {
    @Override
    public Object encode(Object value) {
        return wire.get(value);
    }

    @Override
    public Object decode(Object symbol) {
        return constants.get(symbol.toString());
    }
}
