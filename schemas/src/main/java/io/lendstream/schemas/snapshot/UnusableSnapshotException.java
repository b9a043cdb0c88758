package io.lendstream.schemas.snapshot;

/** A snapshot that cannot be used; the message says why, as a clause. An older one may do. */
public final class UnusableSnapshotException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableSnapshotException(String message) {
        super(message);
    }

    UnusableSnapshotException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Why it cannot be used. */
    public String why() {
        return String.valueOf(getMessage());
    }
}
