package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;
import java.time.Instant;

/**
 * Checks one field's value against its bounds: the record is refused, or the value is clamped and counted.
 *
 * @param path position of the field, for messages
 */
record FieldBound(Strictness strictness, String path, String record, String field) {

    long nearest(long value, Limits.Whole bounds) {
        if (strictness == Strictness.REFUSE) {
            throw new OutOfBoundsException("%s must be between %d and %d, but was %d; send a value within these bounds"
                    .formatted(path, bounds.least(), bounds.most(), value));
        }
        Clamped.count(record, field);
        return bounds.nearest(value);
    }

    /** @param millis since 1970 */
    long nearestTime(long millis, Limits.Whole bounds) {
        if (strictness == Strictness.REFUSE) {
            throw new OutOfBoundsException("%s must be between %s and %s, but was %s (%d ms); correct the time"
                    .formatted(
                            path,
                            Instant.ofEpochMilli(bounds.least()),
                            Instant.ofEpochMilli(bounds.most()),
                            Instant.ofEpochMilli(millis),
                            millis));
        }
        Clamped.count(record, field);
        return bounds.nearest(millis);
    }

    double nearest(double value, Limits.Real bounds) {
        if (strictness == Strictness.REFUSE) {
            throw new OutOfBoundsException(
                    "%s must be a number between %s and %s, but was %s; send a value within these bounds"
                            .formatted(path, bounds.least(), bounds.most(), value));
        }
        Clamped.count(record, field);
        return bounds.nearest(value);
    }

    /** How many of a list's entries are accepted. */
    int entries(int size, int most) {
        if (strictness == Strictness.REFUSE) {
            throw new OutOfBoundsException(
                    "%s may have at most %d entries, but has %d; send fewer".formatted(path, most, size));
        }
        Clamped.count(record, field);
        return most;
    }

    /** Cuts a long text in both modes, because texts are for people. */
    void cut(int length, int most) {
        Clamped.count(record, field);
    }
}
