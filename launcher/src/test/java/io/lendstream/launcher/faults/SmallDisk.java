package io.lendstream.launcher.faults;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A file system of a few megabytes in memory that a test can fill up; making one takes root's rights. */
final class SmallDisk implements AutoCloseable {
    private static final byte[] BLOCK = new byte[64 << 10];
    private static final byte[] BYTE = new byte[1];

    private final Path directory;
    private final Path filler;

    private SmallDisk(Path directory) {
        this.directory = directory;
        this.filler = directory.resolve("filler");
    }

    /** One that is mounted on a new directory; the test is skipped where that is not allowed. */
    static SmallDisk on(Path directory, int megabytes) throws IOException {
        Files.createDirectories(directory);
        int mounted = run("mount", "-t", "tmpfs", "-o", "size=%dm".formatted(megabytes), "tmpfs", directory.toString());
        assumeTrue(mounted == 0, "no right to mount a small file system (root has it), so no disk can be filled up");
        return new SmallDisk(directory);
    }

    Path directory() {
        return directory;
    }

    /** Leaves not a byte. */
    void fill() {
        try (OutputStream out = Files.newOutputStream(filler)) {
            write(out, BLOCK);
        } catch (IOException e) {
            throw new IllegalStateException("cannot fill " + directory, e);
        }
    }

    private void write(OutputStream out, byte[] block) throws IOException {
        while (true) {
            try {
                out.write(block);
            } catch (IOException full) {
                if (block.length == 1) {
                    return;
                }
                write(out, BYTE);
                return;
            }
        }
    }

    /** Gives back what {@link #fill} took. */
    void free() throws IOException {
        Files.deleteIfExists(filler);
    }

    @Override
    public void close() throws IOException {
        run("umount", "-l", directory.toString());
    }

    private static int run(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return process.waitFor(10, TimeUnit.SECONDS) ? process.exitValue() : -1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }
}
