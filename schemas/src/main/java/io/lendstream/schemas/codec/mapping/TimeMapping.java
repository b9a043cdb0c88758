package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;
import java.time.Instant;

/** Maps a time, in milliseconds. */
record TimeMapping(FieldBound guard, Limits.Whole bounds) implements Mapping {
    @Override
    public Object encode(Object value) {
        return Limits.millis((Instant) value);
    }

    @Override
    public Object decode(Object wire) {
        long millis = wire instanceof Instant instant ? Limits.millis(instant) : (Long) wire;
        return Instant.ofEpochMilli(bounds.includes(millis) ? millis : guard.nearestTime(millis, bounds));
    }
}
