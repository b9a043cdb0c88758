package io.lendstream.launcher.cli;

import io.lendstream.service.text.Printable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Supplier;

/** Prints lines at once, with control characters escaped. */
public final class CommandOutput {
    private static final Duration BETWEEN_LINES = Duration.ofSeconds(2);

    private final Supplier<PrintWriter> writer;
    private long printedAt = System.nanoTime();

    public CommandOutput(Supplier<PrintWriter> writer) {
        this.writer = writer;
    }

    /** Prints a line. */
    public void say(String line) {
        PrintWriter out = writer.get();
        out.println(Printable.line(line));
        out.flush();
    }

    /** Prints the progress of a task, at most every two seconds. */
    public void progress(String what, double share) {
        if (System.nanoTime() - printedAt > BETWEEN_LINES.toNanos()) {
            printedAt = System.nanoTime();
            say("%s: %.0f %%".formatted(what, 100 * share));
        }
    }
}
