package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A job whose workers end, with a checkpoint, and start again wherever its GPUs change: any script that resumes from its
 * checkpoint can be run so. With torchrun, one launcher starts all workers; it is told their exact number and started anew for
 * another, so it never waits for who may yet come (its last-call timeout, 30 s unless told otherwise), counts no departure
 * against its restarts, and keeps its store on this node rather than in a rank.
 */
final class RestartedJob extends Job {
    private static final String LOCAL = "127.0.0.1";
    /** After this long without a word, workers that do not report steps are taken to train. */
    private static final Duration SILENCE = Duration.ofSeconds(60);

    /** Slots of the workers that run, by rank. */
    private List<Slot> running = List.of();

    private boolean ending;
    private boolean failed;
    private boolean heard;
    private long launchedNanos;
    private Optional<Long> lastStepNanos = Optional.empty();
    private double medianSeconds;

    RestartedJob(
            JobId id,
            JobProgram program,
            Batching batching,
            DecisionId change,
            Path directory,
            Shared shared,
            JobListener listener) {
        super(id, program, batching, change, directory, shared, listener);
    }

    /** Takes over workers that run. A set that is not complete is ended, and started again. */
    void adopt(JobFile file) {
        restore(file);
        running = workers.values().stream()
                .flatMap(worker -> worker.slots.stream())
                .toList();
        launchedNanos = System.nanoTime();
    }

    @Override
    void advance() {
        if (isOver()) {
            return;
        }
        if (workers.isEmpty()) {
            startOrEnd();
        } else if (!ending && (!running.equals(wantedSlots()) || !applied.equals(batching))) {
            endWorkers();
        } else if (!ending && !settled && !heard && System.nanoTime() - launchedNanos > SILENCE.toNanos()) {
            settle(ChangeTimings.since(askedNanos));
        }
    }

    private List<Slot> wantedSlots() {
        return wanted.values().stream().map(Wanted::slot).toList();
    }

    private void endWorkers() {
        ending = true;
        for (Worker worker : workers.values()) {
            worker.deadlineNanos = System.nanoTime() + program.grace().toNanos();
            worker.process.terminate();
        }
    }

    private void startOrEnd() {
        ending = false;
        running = List.of();
        List<Slot> next = wantedSlots();
        boolean hopeless = !next.isEmpty() && next.stream().allMatch(this::isGivenUp);
        if (finished || stopping || (failed && hopeless)) {
            if (stopping && !settled) {
                settle(ChangeTimings.since(askedNanos));
            }
            end(finished || stopping ? 0 : Math.max(1, lastCode()));
            return;
        }
        if (next.isEmpty()) {
            if (!settled) {
                settle(ChangeTimings.since(askedNanos));
            }
            return;
        }
        boolean tooSoon = next.stream()
                .anyMatch(slot -> mustWait(slot)
                        || System.nanoTime() - launchedNanos
                                < restartDelay(slot).toNanos());
        if (!tooSoon) {
            start(next);
        }
    }

    private void start(List<Slot> slots) {
        running = slots;
        applied = batching;
        heard = false;
        failed = false;
        launchedNanos = System.nanoTime();
        if (program.mode() == JobProgram.Mode.TORCHRUN) {
            List<String> command = new ArrayList<>(program.launcher());
            // Underscores: PyTorch 1.13 knows no other spelling, later versions know both.
            command.addAll(List.of(
                    "--nnodes=1:1",
                    "--nproc_per_node=" + slots.size(),
                    "--max_restarts=0",
                    "--monitor_interval=0.1",
                    "--rdzv_backend=c10d",
                    "--rdzv_endpoint=" + LOCAL + ":0",
                    "--rdzv_conf=last_call_timeout=1",
                    // PyTorch 1.13 on Python 3.11 knows no other values of these: enumerations leave out 0 and 3.
                    "--redirects=1",
                    "--tee=1",
                    "--log_dir=" + directory.resolve("torchrun")));
            command.addAll(torchrunScript());
            failed = !launch(slots, command, Map.of("LENDSTREAM_AFE_MODE", "observe"));
        } else {
            String port = Integer.toString(freePort());
            for (int rank = 0; rank < slots.size(); rank++) {
                Map<String, String> environment = new TreeMap<>(Map.of(
                        "LENDSTREAM_AFE_MODE",
                        "observe",
                        "RANK",
                        Integer.toString(rank),
                        "WORLD_SIZE",
                        Integer.toString(slots.size()),
                        "LOCAL_RANK",
                        "0", // each sees one device
                        "LOCAL_WORLD_SIZE",
                        Integer.toString(slots.size()),
                        "MASTER_ADDR",
                        LOCAL,
                        "MASTER_PORT",
                        port));
                if (!launch(List.of(slots.get(rank)), slots, program.command(), environment)) {
                    failed = true;
                    break;
                }
            }
        }
        if (failed) {
            endWorkers(); // those that were started wait for the others
            return;
        }
        save();
        reportBound(List.copyOf(workers.values()));
    }

    /** torchrun takes a script for Python, or with this option any program. */
    private List<String> torchrunScript() {
        String first = program.command().get(0);
        if (first.endsWith(".py")) {
            return program.command();
        }
        List<String> all = new ArrayList<>(List.of("--no_python"));
        all.addAll(program.command());
        return all;
    }

    private static int freePort() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("no port is free on " + LOCAL, e);
        }
    }

    @Override
    void heard(Worker worker, String type, JsonNode message) {
        heard = true;
        switch (type) {
            case "bye" -> worker.hasFinished = true;
            case "stopped" -> {
                lastStepNanos = Optional.of(message.path("lastNanos").asLong());
                medianSeconds = message.path("medianSeconds").asDouble();
            }
            case "full" -> {
                long now = message.path("nanos").asLong();
                Optional<Duration> pause = lastStepNanos.map(
                        last -> Duration.ofNanos(Math.max(0, now - last - (long) (medianSeconds * 1e9))));
                lastStepNanos = Optional.empty();
                if (!settled) {
                    settle(new ChangeTimings(Duration.ofNanos(Math.max(0, now - askedNanos)), pause));
                }
            }
            default -> {
                // What an elastic worker says of its group means nothing here.
            }
        }
    }

    @Override
    void gone(Worker worker) {
        if (ending) {
            return;
        }
        if (worker.process.exitCode() == 0) {
            finished = true;
            return;
        }
        if (!finished) {
            failed = true;
            countFailure(worker);
            endWorkers(); // the others wait for who is gone
        }
    }

    @Override
    boolean isDispensable(Worker worker) {
        return false; // all end together
    }

    @Override
    JobFile.@Nullable Pending pending() {
        return null;
    }

    @Override
    long epoch() {
        return 0;
    }

    @Override
    List<String> members() {
        return List.of();
    }
}
