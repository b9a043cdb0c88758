package io.lendstream.scheduler;

/**
 * Refuses a record because its domain is stopped. Dead letters contain this class name, and {@code doctor} looks for
 * it.
 */
final class DomainStoppedException extends Exception {
    private static final long serialVersionUID = 1L;

    DomainStoppedException(String message) {
        super(message);
    }
}
