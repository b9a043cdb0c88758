package io.lendstream.service.kafka;

import org.jspecify.annotations.Nullable;

/** Reports that a required broker, registry or topic is missing: one line with the address and the way out. */
public final class UnreachableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean mayPass;

    /** A problem that needs correction, such as a missing topic. */
    public UnreachableException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    private UnreachableException(String message, @Nullable Throwable cause, boolean mayPass) {
        super(message, cause);
        this.mayPass = mayPass;
    }

    /** A broker or registry that does not answer: it may answer later without a change of settings. */
    public static UnreachableException silent(String message, @Nullable Throwable cause) {
        return new UnreachableException(message, cause, true);
    }

    /** True if waiting may help. */
    public boolean mayPass() {
        return mayPass;
    }
}
