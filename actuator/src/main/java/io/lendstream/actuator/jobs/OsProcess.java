package io.lendstream.actuator.jobs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A process of this machine, identified even if its PID is reused.
 *
 * @param startTicks when it started, in clock ticks since the machine's start
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html">proc_pid_stat(5)</a>
 */
record OsProcess(long pid, long startTicks, long session) {
    private static final Path PROC = Path.of("/proc");
    private static final int STATE = 0;
    private static final int SESSION = 3;
    private static final int START = 19;

    static Optional<OsProcess> of(long pid) {
        try {
            String stat = Files.readString(PROC.resolve(Long.toString(pid)).resolve("stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            if (fields[STATE].equals("Z") || fields[STATE].equals("X")) {
                return Optional.empty(); // dead: it holds no device, only a number
            }
            return Optional.of(new OsProcess(pid, Long.parseLong(fields[START]), Long.parseLong(fields[SESSION])));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Running processes with an environment variable, set or inherited. */
    static List<OsProcess> carrying(String variable, String value) {
        String wanted = variable + "=" + value + "\0";
        List<OsProcess> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path each : all) {
                String environment;
                try {
                    environment = Files.readString(each.resolve("environ"), StandardCharsets.ISO_8859_1);
                } catch (IOException e) {
                    continue; // another user's, or ended
                }
                if (environment.startsWith(wanted) || environment.contains("\0" + wanted)) {
                    of(Long.parseLong(each.getFileName().toString())).ifPresent(found::add);
                }
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("cannot read /proc, which is needed to find workers", e);
        }
        return found;
    }

    boolean isAlive() {
        return of(pid).filter(now -> now.startTicks == startTicks).isPresent();
    }

    /** Sends SIGKILL, unless the PID belongs to another process now. */
    void kill() {
        ProcessHandle.of(pid).filter(handle -> isAlive()).ifPresent(ProcessHandle::destroyForcibly);
    }

    /** Sends SIGTERM to its children. */
    void terminateChildren() {
        ProcessHandle.of(pid).filter(handle -> isAlive()).stream()
                .flatMap(ProcessHandle::children)
                .forEach(ProcessHandle::destroy);
    }
}
