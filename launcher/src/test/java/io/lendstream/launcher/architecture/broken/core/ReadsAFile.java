package io.lendstream.launcher.architecture.broken.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Looks into the world. */
final class ReadsAFile {

    private ReadsAFile() {}

    static String read() throws IOException {
        return Files.readString(Path.of("gpus"));
    }
}
