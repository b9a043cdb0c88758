package io.lendstream.service.kafka;

import io.lendstream.core.event.Limits;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.serde.PoisonRecordException;

/** Rejects a record whose key is not a valid name. */
public final class UnusableKeyException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    private UnusableKeyException(String message) {
        super(message, null);
    }

    /**
     * Checks a record's key.
     *
     * @param strictness whether to apply the rules for new names, or those of earlier versions
     */
    static void check(String key, Strictness strictness) {
        if (strictness == Strictness.REFUSE) {
            try {
                Limits.name("the record's key", key);
            } catch (IllegalArgumentException e) {
                throw new UnusableKeyException(String.valueOf(e.getMessage()));
            }
        } else if (key.isBlank() || key.length() > Limits.LONGEST_NAME) {
            throw new UnusableKeyException(
                    "a tombstone's key must have 1 to %d characters that are not blank, but has %d"
                            .formatted(Limits.LONGEST_NAME, key.strip().length()));
        }
    }
}
