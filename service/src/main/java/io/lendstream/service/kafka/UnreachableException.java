package io.lendstream.service.kafka;

import org.jspecify.annotations.Nullable;

/** What a service cannot work without is not there: one line with where it was looked for and the way out. */
public final class UnreachableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean mayPass;

    /** Something that has to be put right, such as a topic that is missing. */
    public UnreachableException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    private UnreachableException(String message, @Nullable Throwable cause, boolean mayPass) {
        super(message, cause);
        this.mayPass = mayPass;
    }

    /** A broker or a registry that does not answer: it may answer later without a change of settings. */
    public static UnreachableException silent(String message, @Nullable Throwable cause) {
        return new UnreachableException(message, cause, true);
    }

    /** True if waiting may help. */
    public boolean mayPass() {
        return mayPass;
    }
}
