package io.lendstream.launcher.cli;

import io.lendstream.core.event.Limits;
import java.io.Serial;

/** An error that the user can correct: one line with name, value, bound and way out, and an exit code. */
public final class UserError extends RuntimeException {

    /** The command was understood and failed. */
    public static final int FAILED = 1;

    /** The command was not understood. */
    public static final int BAD_USAGE = 2;

    @Serial
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    private UserError(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** The command was understood but failed. */
    public static UserError failed(String message) {
        return new UserError(FAILED, message);
    }

    /** An option or argument is invalid. */
    public static UserError badUsage(String message) {
        return new UserError(BAD_USAGE, message);
    }

    /**
     * A name of the user, if records may have it.
     *
     * @param option the option of the name, such as {@code --domain}
     */
    public static String checkedName(String option, String name) {
        try {
            return Limits.name(option, name);
        } catch (IllegalArgumentException e) {
            throw badUsage(e.getMessage() + ".");
        }
    }

    int exitCode() {
        return exitCode;
    }
}
