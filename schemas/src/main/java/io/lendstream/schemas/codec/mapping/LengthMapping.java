package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;
import java.time.Duration;

/** Maps a duration, in milliseconds. */
record LengthMapping(FieldBound guard, Limits.Whole bounds) implements Mapping {
    @Override
    public Object encode(Object value) {
        return Limits.millis((Duration) value);
    }

    @Override
    public Object decode(Object wire) {
        long millis = (Long) wire;
        return Duration.ofMillis(bounds.includes(millis) ? millis : guard.nearest(millis, bounds));
    }
}
