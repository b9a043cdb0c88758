package io.lendstream.stack;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.time.Duration;

/** A child that uses the terminal of this process and ends with it. */
public final class Foreground {

    private static final Duration LONGEST = Duration.ofMinutes(1);

    private Foreground() {}

    /** The result of a child that has ended. */
    public record Said(int exit, String text) {}

    /** Runs a child to its end and collects its output. */
    public static Said listen(Child child) {
        Process process = ChildProcess.heard(child);
        try (InputStream said = process.getInputStream()) {
            String text = new String(said.readAllBytes(), Charset.defaultCharset());
            ChildProcess.stop(process, LONGEST);
            return new Said(process.exitValue(), text);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the output of %s cannot be read: %s".formatted(child.name(), e.getMessage()), e);
        }
    }

    /** Runs a child to its end and returns its exit code. */
    public static int run(Child child) throws InterruptedException {
        Process process = ChildProcess.inForeground(child);
        var stop = new Thread(() -> ChildProcess.stop(process, ChildMain.GRACE), "foreground-shutdown");
        Runtime.getRuntime().addShutdownHook(stop);
        int code = process.waitFor();
        try {
            Runtime.getRuntime().removeShutdownHook(stop);
        } catch (IllegalStateException e) {
            // this is the shutdown
        }
        return code;
    }
}
