package io.lendstream.launcher.cli;

import io.lendstream.service.text.Printable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Supplier;

/** The lines that a command prints, each at once and without characters that a terminal would obey. */
public final class CommandOutput {
    private static final Duration BETWEEN_WORDS = Duration.ofSeconds(2);

    private final Supplier<PrintWriter> writer;
    private long spokeAt = System.nanoTime();

    public CommandOutput(Supplier<PrintWriter> writer) {
        this.writer = writer;
    }

    /** Prints a line. */
    public void say(String line) {
        PrintWriter out = writer.get();
        out.println(Printable.line(line));
        out.flush();
    }

    /** Prints how much of something is done, unless it was said a moment ago. */
    public void progress(String what, double share) {
        if (System.nanoTime() - spokeAt > BETWEEN_WORDS.toNanos()) {
            spokeAt = System.nanoTime();
            say("%s: %.0f %%".formatted(what, 100 * share));
        }
    }
}
