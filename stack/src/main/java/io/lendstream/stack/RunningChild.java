package io.lendstream.stack;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** A child of a running stack, through all its restarts. */
public final class RunningChild {

    private final Child child;
    private final Path log;
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private volatile ChildProcess process;
    private volatile long startedNanos;
    private volatile int restarts;

    RunningChild(Child child, Path log, ChildProcess process) {
        this.child = child;
        this.log = log;
        this.process = process;
        this.startedNanos = System.nanoTime();
    }

    public String name() {
        return child.name();
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** The number of its restarts. */
    public int restarts() {
        return restarts;
    }

    /** The file of its output. */
    public Path log() {
        return log;
    }

    /** Completes when a child that {@linkplain OnExit#finishes() finishes} has ended well. */
    public CompletableFuture<Void> finished() {
        return finished.copy();
    }

    /** Its resident memory; empty if the operating system does not report it. */
    public OptionalLong residentBytes() {
        return residentBytes(pid());
    }

    /** The resident memory of a process; empty if the operating system does not report it. */
    public static OptionalLong residentBytes(long pid) {
        try (var lines = Files.lines(Path.of("/proc", String.valueOf(pid), "status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst();
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    Child child() {
        return child;
    }

    ChildProcess process() {
        return process;
    }

    long ranNanos() {
        return System.nanoTime() - startedNanos;
    }

    /** Records a restart. The count is a parameter because a long good run resets it. */
    void restarted(ChildProcess next, int count) {
        restarts = count;
        startedNanos = System.nanoTime();
        process = next;
    }

    void markFinished() {
        finished.complete(null);
    }

    List<String> lastLines() {
        return process.lastLines(15);
    }
}
