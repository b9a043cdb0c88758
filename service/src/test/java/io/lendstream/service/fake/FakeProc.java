package io.lendstream.service.fake;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A directory like {@code /proc}, with the processes of a test. */
public final class FakeProc {
    private final Path directory;

    public FakeProc(Path directory) {
        this.directory = directory;
    }

    public Path directory() {
        return directory;
    }

    /** Adds a running process of user 1000, with a readable program and an empty environment. */
    public FakeProc with(long pid, long parent, long startTicks, String executable) {
        stat(pid, parent, startTicks, executable.substring(executable.lastIndexOf('/') + 1), 'S');
        owner(pid, 1000);
        environment(pid);
        link(pid, "exe", executable);
        return this;
    }

    public FakeProc stat(long pid, long parent, long startTicks, String command, char state) {
        return write(
                pid,
                "stat",
                "%d (%s) %c %d 1 1 0 -1 4194560 1 0 0 0 3 2 0 0 20 0 1 0 %d 2304 0 18446744073709551615\n"
                        .formatted(pid, command, state, parent, startTicks));
    }

    public FakeProc owner(long pid, long user) {
        return write(pid, "status", "Name:\tx\nUid:\t%d\t0\t0\t0\nGid:\t1\t1\t1\t1\n".formatted(user));
    }

    public FakeProc environment(long pid, String... variables) {
        return write(pid, "environ", String.join("\0", variables) + "\0");
    }

    public FakeProc groups(long pid, String groups) {
        return write(pid, "cgroup", groups + "\n");
    }

    /** The process that reads, in this PID namespace. */
    public FakeProc self(String namespace) {
        try {
            Path self = Files.createDirectories(directory.resolve("self"));
            Files.writeString(self.resolve("stat"), "1 (java) R 0");
            Files.createSymbolicLink(Files.createDirectories(self.resolve("ns")).resolve("pid"), Path.of(namespace));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Takes away what another user must not read. */
    public FakeProc hide(long pid) {
        for (String file : new String[] {"exe", "environ"}) {
            try {
                Files.delete(directory.resolve(Long.toString(pid)).resolve(file));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return this;
    }

    private void link(long pid, String file, String target) {
        try {
            Path link = directory.resolve(Long.toString(pid)).resolve(file);
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, Path.of(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private FakeProc write(long pid, String file, String text) {
        try {
            Files.writeString(
                    Files.createDirectories(directory.resolve(Long.toString(pid)))
                            .resolve(file),
                    text,
                    StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }
}
