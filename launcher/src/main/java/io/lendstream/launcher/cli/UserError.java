package io.lendstream.launcher.cli;

import io.lendstream.core.event.Limits;
import java.io.Serial;

/** What a user can mend: told in one line of name, value, bound and way out, with an exit code of its own. */
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

    /** The command was understood, but the world did not allow it. */
    public static UserError failed(String message) {
        return new UserError(FAILED, message);
    }

    /** An option or argument cannot be what it is. */
    public static UserError badUsage(String message) {
        return new UserError(BAD_USAGE, message);
    }

    /**
     * A name that a user gave, where records may have it.
     *
     * @param option what the user calls it, such as {@code --domain}
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
