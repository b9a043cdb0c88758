package io.lendstream.agent.publish;

/** Reports a record that can never be delivered and is dropped. */
final class UndeliverableException extends Exception {
    private static final long serialVersionUID = 1L;

    UndeliverableException(String message, Throwable cause) {
        super(message, cause);
    }
}
