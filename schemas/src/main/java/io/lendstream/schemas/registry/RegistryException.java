package io.lendstream.schemas.registry;

import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Reports that the registry refused a request or did not answer. */
public class RegistryException extends KafkaException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final int errorCode;

    RegistryException(String message, int status, int errorCode, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
        this.errorCode = errorCode;
    }

    /** The HTTP status; 0 without an answer. */
    public int status() {
        return status;
    }

    /** The registry's own error code, such as 40403 for an unknown schema ID; 0 if there is none. */
    public int errorCode() {
        return errorCode;
    }
}
