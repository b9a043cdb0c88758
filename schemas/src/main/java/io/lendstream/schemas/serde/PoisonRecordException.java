package io.lendstream.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/**
 * A record that will never be readable, however often it is tried: it belongs in the dead letters. A registry that cannot
 * be asked is no such thing; that is a {@link io.lendstream.schemas.registry.RegistryException} and worth another try.
 */
public abstract class PoisonRecordException extends SerializationException {
    private static final long serialVersionUID = 1L;

    protected PoisonRecordException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Whether a failure to read a record is, or was caused by, one that no second try can heal. */
    public static boolean causes(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof PoisonRecordException) {
                return true;
            }
        }
        return false;
    }
}
