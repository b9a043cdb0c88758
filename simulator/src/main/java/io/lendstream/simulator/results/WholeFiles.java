package io.lendstream.simulator.results;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Files that appear under their names only when all of them are written: half a result, as on a full disk, would look like a whole.
 */
final class WholeFiles implements AutoCloseable {
    private final Path directory;
    /** The names of the files, by where each is written. */
    private final Map<Path, Path> parts = new LinkedHashMap<>();

    WholeFiles(Path directory) {
        this.directory = directory;
    }

    /** Where a file is written until {@link #publish}. */
    Path part(String name) {
        Path part = directory.resolve(name + ".part");
        parts.put(part, directory.resolve(name));
        return part;
    }

    BufferedWriter writer(String name) throws IOException {
        return Files.newBufferedWriter(part(name));
    }

    /** Gives the files their names, in the order in which they were begun. */
    void publish() throws IOException {
        for (Map.Entry<Path, Path> file : parts.entrySet()) {
            Files.move(file.getKey(), file.getValue(), StandardCopyOption.REPLACE_EXISTING);
        }
        parts.clear();
    }

    /** Deletes what was not published. */
    @Override
    public void close() throws IOException {
        for (Path part : parts.keySet()) {
            Files.deleteIfExists(part);
        }
    }
}
