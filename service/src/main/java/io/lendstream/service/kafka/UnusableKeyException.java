package io.lendstream.service.kafka;

import io.lendstream.schemas.serde.PoisonRecordException;

/** A tombstone whose key cannot be anybody's name. */
public final class UnusableKeyException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;
    private static final int LONGEST = 249;

    private UnusableKeyException(String message) {
        super(message, null);
    }

    static void check(String key) {
        if (key.isBlank() || key.length() > LONGEST) {
            throw new UnusableKeyException(
                    "a tombstone's key must have 1 to %d characters that are not blank, but has %d"
                            .formatted(LONGEST, key.strip().length()));
        }
    }
}
