package io.lendstream.simulator.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file of a report. It gets its name only when it is complete, so that a full disk leaves no half file. */
public final class ReportFile {
    private static final String PAGE = "report.html";
    /** The names of all plots. */
    private static final String PLOTS =
            "{gpus-by-owner,completion-times,inference,demand-and-supply,loans,forecast-*}.png";

    private ReportFile() {}

    /** Deletes the page and the plots of an earlier run, so that they do not stand beside the data of a new one. */
    public static void deleteOld(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(PAGE));
        try (DirectoryStream<Path> plots = Files.newDirectoryStream(directory, PLOTS)) {
            for (Path plot : plots) {
                Files.deleteIfExists(plot);
            }
        }
    }

    /** Writes {@code report.html} into a directory that exists. */
    static void writePage(Path directory, String page) {
        write(directory.resolve(PAGE), page.getBytes(StandardCharsets.UTF_8));
    }

    static void write(Path file, byte[] content) {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try {
            try {
                Files.write(part, content);
                Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be written".formatted(file), e);
        }
    }
}
