package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;

/** Maps a whole number within bounds. */
record WholeMapping(boolean narrow, Limits.Whole bounds, FieldBound guard) implements Mapping {
    @Override
    public Object encode(Object value) {
        return value;
    }

    @Override
    public Object decode(Object wire) {
        long value = ((Number) wire).longValue();
        if (bounds.includes(value)) {
            return wire;
        }
        long nearest = guard.nearest(value, bounds);
        return narrow ? (Object) Math.toIntExact(nearest) : (Object) nearest;
    }
}
