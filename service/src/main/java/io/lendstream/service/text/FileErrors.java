package io.lendstream.service.text;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.util.Objects;

/** The error lines for files that cannot be read or written. */
public final class FileErrors {
    private FileErrors() {}

    /** One line with the file, the reason and the way out. */
    public static String line(UncheckedIOException error) {
        IOException cause = Objects.requireNonNull(error.getCause());
        String what = Printable.firstLine(String.valueOf(error.getMessage()));
        if (error.getMessage() == null || error.getMessage().equals(cause.toString())) {
            what = Printable.firstLine(String.valueOf(cause.getMessage()));
        } else if (cause.getMessage() != null && !what.contains(reason(cause))) {
            what = "%s: %s".formatted(what, Printable.firstLine(reason(cause)));
        }
        return what.contains("No space left on device") || what.contains("Disk quota exceeded")
                ? what + ". Free space there, or name another directory."
                : what + ". Correct what the message names, and run it again.";
    }

    /** Why a directory cannot be used, without its name; some exceptions of the system only have the name. */
    public static String ofDirectory(IOException failure) {
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof FileAlreadyExistsException) {
            return "it is a file";
        }
        if (failure instanceof FileSystemException system) {
            String reason = system.getReason();
            return reason == null ? "the system does not allow it" : reason;
        }
        return String.valueOf(failure.getMessage());
    }

    private static String reason(IOException cause) {
        return cause instanceof FileSystemException file && file.getReason() != null
                ? file.getReason()
                : String.valueOf(cause.getMessage());
    }
}
