package io.lendstream.service.kafka;

/** A record could not be written, so what was said of it is not true: the service has to start anew. */
public final class WriteFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WriteFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}
