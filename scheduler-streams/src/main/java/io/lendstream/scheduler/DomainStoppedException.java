package io.lendstream.scheduler;

/** A record came for a domain that is stopped. Dead letters have the name of this class, and {@code doctor} looks for it. */
final class DomainStoppedException extends Exception {
    private static final long serialVersionUID = 1L;

    DomainStoppedException(String message) {
        super(message);
    }
}
