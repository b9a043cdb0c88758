package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;

/** Maps a number within bounds. */
record RealMapping(boolean narrow, Limits.Real bounds, FieldBound guard) implements Mapping {
    @Override
    public Object encode(Object value) {
        return value;
    }

    @Override
    public Object decode(Object wire) {
        double value = ((Number) wire).doubleValue();
        if (bounds.includes(value)) {
            return wire;
        }
        double nearest = guard.nearest(value, bounds);
        return narrow ? (Object) (float) nearest : (Object) nearest;
    }
}
