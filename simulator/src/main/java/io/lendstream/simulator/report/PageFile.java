package io.lendstream.simulator.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The page of a report. It gets its name only when it is complete, so that a full disk leaves no half page. */
final class PageFile {
    private static final String NAME = "report.html";

    private PageFile() {}

    /** Writes {@code report.html} into a directory that exists. */
    static void write(Path directory, String page) {
        Path part = directory.resolve(NAME + ".part");
        try {
            try {
                Files.writeString(part, page);
                Files.move(part, directory.resolve(NAME), StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be written".formatted(directory.resolve(NAME)), e);
        }
    }
}
