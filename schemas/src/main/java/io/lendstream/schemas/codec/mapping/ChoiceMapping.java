package io.lendstream.schemas.codec.mapping;

import java.util.Map;
import java.util.Objects;

/** Maps a constant of an enum. */
record ChoiceMapping(Map<String, Object> constants, Map<Object, Object> wire) implements Mapping {
    @Override
    public Object encode(Object value) {
        return Objects.requireNonNull(wire.get(value));
    }

    @Override
    public Object decode(Object symbol) {
        Object constant = constants.get(symbol.toString());
        if (constant == null) {
            throw new InvalidRecordException("%s is none of %s".formatted(symbol, constants.keySet()), null);
        }
        return constant;
    }
}
