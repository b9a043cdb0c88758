package io.lendstream.service.kafka;

/** Reports that a record could not be written, so its sender's state is uncertain: the service must restart. */
public final class WriteFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WriteFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}
