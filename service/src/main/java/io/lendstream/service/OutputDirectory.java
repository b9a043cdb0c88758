package io.lendstream.service;

import io.lendstream.service.text.FileErrors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A directory for results that a user names. */
public final class OutputDirectory {
    private OutputDirectory() {}

    /**
     * Makes the directory, before there are any results.
     *
     * @return the obstacle, if there is one: words to follow the directory's name
     */
    public static Optional<String> obstacle(Path directory) {
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            return Optional.of("is a file");
        }
        for (Path path = directory; path != null; path = path.getParent()) {
            if (Files.isRegularFile(path)) {
                return Optional.of("cannot be made: %s is a file".formatted(path));
            }
        }
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            return Optional.of("cannot be made: " + FileErrors.ofDirectory(e));
        }
        return Files.isWritable(directory) ? Optional.empty() : Optional.of("cannot be written: permission denied");
    }
}
