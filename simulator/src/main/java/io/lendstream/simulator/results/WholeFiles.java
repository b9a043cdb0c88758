package io.lendstream.simulator.results;

import io.lendstream.simulator.report.ReportFile;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Files that appear under their names only when all of them are written, so that half a result, as on a full disk, is
 * not taken for a whole one.
 */
public final class WholeFiles implements AutoCloseable {
    private final Path directory;
    /** The names of the files, by where each is written. */
    private final Map<Path, Path> parts = new LinkedHashMap<>();

    private String current = "results";

    /** Files of a directory that exists. */
    public WholeFiles(Path directory) {
        this.directory = directory;
    }

    /** The place where a file is written until {@link #publish}. */
    public Path part(String name) {
        current = name;
        Path part = directory.resolve(name + ".part");
        parts.put(part, directory.resolve(name));
        return part;
    }

    Path directory() {
        return directory;
    }

    /** The file that was begun last. */
    String current() {
        return current;
    }

    BufferedWriter writer(String name) throws IOException {
        return Files.newBufferedWriter(part(name));
    }

    /**
     * Gives the files their names, in the order in which they were begun. The report of an earlier run is deleted
     * before: the new one is written later, and may fail.
     */
    public void publish() throws IOException {
        ReportFile.deleteOld(directory);
        for (Map.Entry<Path, Path> file : parts.entrySet()) {
            Files.move(file.getKey(), file.getValue(), StandardCopyOption.REPLACE_EXISTING);
        }
        parts.clear();
    }

    /** Deletes the files that were not published. */
    @Override
    public void close() throws IOException {
        for (Path part : parts.keySet()) {
            Files.deleteIfExists(part);
        }
    }
}
