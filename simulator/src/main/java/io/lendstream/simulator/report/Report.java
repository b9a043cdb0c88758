package io.lendstream.simulator.report;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Writes the files of a report: {@code report.html}, and its plots. */
public final class Report {
    private Report() {}

    /**
     * Writes the files into a directory that exists.
     *
     * @param plots the painter of the plots, if they are wanted
     * @return a line for the user, if there is one
     */
    public static Optional<String> write(RunFacts facts, Path directory, Optional<PngPlots> plots) {
        CompletableFuture<Optional<String>> painted =
                CompletableFuture.supplyAsync(() -> plots.flatMap(painter -> painter.write(facts, directory)));
        ReportFile.writePage(directory, HtmlReport.render(facts));
        try {
            return painted.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof UncheckedIOException unwritten) {
                throw unwritten;
            }
            throw e;
        }
    }
}
