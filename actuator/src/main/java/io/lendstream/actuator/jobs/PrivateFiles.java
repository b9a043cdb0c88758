package io.lendstream.actuator.jobs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** Files (0600) and directories (0700) that only the actuator's user may read, whatever the umask. */
public final class PrivateFiles {
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> DIRECTORY = PosixFilePermissions.fromString("rwx------");

    private PrivateFiles() {}

    /** Creates a directory with its parents; an existing one is closed to other users. */
    public static void directory(Path directory) throws IOException {
        FileAttribute<?> closed = PosixFilePermissions.asFileAttribute(DIRECTORY);
        Files.createDirectories(directory, closed);
        if (!Files.getPosixFilePermissions(directory).equals(DIRECTORY)) {
            Files.setPosixFilePermissions(directory, DIRECTORY);
        }
    }

    /** Creates an empty file, replacing any existing one. */
    public static void empty(Path file) throws IOException {
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(FILE));
        Files.setPosixFilePermissions(file, FILE);
    }
}
