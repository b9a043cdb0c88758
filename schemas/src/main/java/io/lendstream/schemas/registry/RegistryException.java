package io.lendstream.schemas.registry;

import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** The registry refused a request, or could not be asked. */
public class RegistryException extends KafkaException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final int errorCode;

    RegistryException(String message, int status, int errorCode, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
        this.errorCode = errorCode;
    }

    /** The HTTP status; 0 where no answer came. */
    public int status() {
        return status;
    }

    /** The registry's own number for what went wrong, such as 40403 for a schema id that it does not know; 0 if none. */
    public int errorCode() {
        return errorCode;
    }
}
