package io.lendstream.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/**
 * Reports a record that can never be read, so it belongs in the dead letters. A registry that does not answer is a
 * {@link io.lendstream.schemas.registry.RegistryException} instead, and worth a retry.
 */
public abstract class PoisonRecordException extends SerializationException {
    private static final long serialVersionUID = 1L;

    protected PoisonRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Whether a failure to read a record is permanent, or has a permanent cause. */
    public static boolean causes(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof PoisonRecordException) {
                return true;
            }
        }
        return false;
    }
}
