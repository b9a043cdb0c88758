package io.lendstream.fuzz;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Inputs as files, for readers that take the path of one. */
final class InputFiles {
    private InputFiles() {}

    /** A directory for as long as this process runs. */
    static Path temporary() {
        try {
            Path directory = Files.createTempDirectory("lendstream-fuzz");
            directory.toFile().deleteOnExit();
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void write(Path file, byte[] data, int from) {
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(data, from, data.length - from);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        file.toFile().deleteOnExit();
    }

    /** A reader that refuses a file says why: the text is all that its user sees. */
    static void needMessage(RuntimeException refusal) {
        String message = String.valueOf(refusal.getMessage());
        if (refusal.getMessage() == null || message.isBlank()) {
            throw new AssertionError("refused without a message", refusal);
        }
    }
}
