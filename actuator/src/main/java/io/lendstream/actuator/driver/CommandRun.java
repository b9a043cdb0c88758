package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.actuator.jobs.ProcessTree;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * One run of a command. Its input is written on a thread of its own, because the command may not read it. The end of
 * its standard error is kept in memory, however much it writes; no file remains.
 */
final class CommandRun {
    /** Reports the end of a command that was started. */
    static final String MARK = "LENDSTREAM_COMMAND";

    private static final int TAIL_BYTES = 8192;
    private static final int AT_ONCE_BYTES = 1 << 20;
    private static final long LOOK_MILLIS = 20;

    private final Process process;
    private final String mark;
    private byte[] tail = new byte[0];

    private CommandRun(Process process, String mark) {
        this.process = process;
        this.mark = mark;
    }

    /**
     * Starts a command.
     *
     * @throws IOException if it cannot be started
     */
    static CommandRun start(List<String> command, CleanEnvironment environment, String input) throws IOException {
        String mark = UUID.randomUUID().toString();
        var builder = new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        environment.set(builder, Map.of(MARK, mark));
        var run = new CommandRun(builder.start(), mark);
        var writer = new Thread(() -> run.write(input), "command-input");
        writer.setDaemon(true);
        writer.start();
        return run;
    }

    private void write(String input) {
        try (OutputStream in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // It does not read its input; its exit status shows the result.
        }
    }

    /** Waits for its end; after the time limit kills it with all its descendants and returns empty. */
    OptionalInt await(Duration timeout) throws InterruptedException {
        long until = System.nanoTime() + timeout.toNanos();
        try {
            while (!process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                readErrors();
                if (System.nanoTime() - until >= 0) {
                    end();
                    return OptionalInt.empty();
                }
            }
        } catch (InterruptedException e) {
            end();
            throw e;
        }
        readErrors();
        return OptionalInt.of(process.exitValue());
    }

    private void end() {
        ProcessTree.kill(process, MARK, mark);
    }

    /** The output so far, without waiting. */
    private void readErrors() {
        InputStream errors = process.getErrorStream();
        byte[] part = new byte[TAIL_BYTES];
        try {
            for (int read = 0; read < AT_ONCE_BYTES; ) {
                int count = Math.min(errors.available(), part.length);
                if (count <= 0) {
                    return;
                }
                count = errors.read(part, 0, count);
                if (count < 0) {
                    return;
                }
                keep(part, count);
                read += count;
            }
        } catch (IOException e) {
            // It has ended; the output read so far is kept.
        }
    }

    private void keep(byte[] part, int count) {
        byte[] all = Arrays.copyOf(tail, tail.length + count);
        System.arraycopy(part, 0, all, tail.length, count);
        tail = all.length <= TAIL_BYTES ? all : Arrays.copyOfRange(all, all.length - TAIL_BYTES, all.length);
    }

    /** The last line of its standard error without control characters, or a note that there is none. */
    String lastLine() {
        List<String> lines =
                new String(tail, StandardCharsets.UTF_8).strip().lines().toList();
        return lines.isEmpty() ? "it gave no reason on standard error" : Shortened.of(lines.get(lines.size() - 1));
    }
}
