package io.lendstream.agent.publish;

/** A record that can never be delivered, however often it is tried: it is dropped. */
final class UndeliverableException extends Exception {
    private static final long serialVersionUID = 1L;

    UndeliverableException(String message, Throwable cause) {
        super(message, cause);
    }
}
