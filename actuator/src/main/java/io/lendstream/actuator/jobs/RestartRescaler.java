package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Changes a job's GPUs by ending its workers, with a checkpoint, and starting new ones. This works for any script that
 * resumes from its checkpoint. With torchrun, one launcher starts all workers. It gets their exact number, and a new
 * launcher is started for another number. So it never waits for more workers to join (its last-call timeout, 30 s by
 * default), does not count a departure as a restart, and keeps its store on this node rather than in a rank.
 */
final class RestartRescaler implements Rescaler {
    private static final String LOCAL = "127.0.0.1";
    /** After this time without a message, workers that do not report steps count as training. */
    private static final Duration SILENCE = Duration.ofSeconds(60);

    private final Job job;
    private final JobTarget target;
    /** Slots of the workers that run, by rank. */
    private List<Slot> running = List.of();

    private Batching applied;
    private boolean ending;
    private boolean failed;
    private boolean finished;
    private boolean heard;
    private long launchedNanos;
    private Optional<Long> lastStepNanos = Optional.empty();
    private double medianSeconds;

    RestartRescaler(Job job) {
        this.job = job;
        this.target = job.target();
        this.applied = target.batching();
    }

    /** Takes over running workers. An incomplete set is ended and started again. */
    @Override
    public void adopt(JobFile file) {
        applied = file.applied();
        running = job.workers().occupied();
        launchedNanos = job.nowNanos();
    }

    @Override
    public void advance() {
        if (job.isOver()) {
            return;
        }
        if (job.workers().isEmpty()) {
            startOrEnd();
        } else if (!ending && (!running.equals(target.slots()) || !applied.equals(target.batching()))) {
            endWorkers();
        } else if (!ending && !target.isSettled() && !heard && job.nowNanos() - launchedNanos > SILENCE.toNanos()) {
            job.settle();
        }
    }

    private void endWorkers() {
        ending = true;
        for (Worker worker : job.workers().all()) {
            worker.setDeadline(job.nowNanos() + job.program().grace().toNanos());
            worker.terminate();
        }
    }

    private void startOrEnd() {
        ending = false;
        running = List.of();
        List<Slot> next = target.slots();
        boolean hopeless = !next.isEmpty() && next.stream().allMatch(job::isGivenUp);
        if (finished || target.isStopping() || (failed && hopeless)) {
            if (target.isStopping() && !target.isSettled()) {
                job.settle();
            }
            job.end(finished || target.isStopping() ? 0 : Math.max(1, job.lastCode()));
            return;
        }
        if (next.isEmpty()) {
            if (!target.isSettled()) {
                job.settle();
            }
            return;
        }
        if (next.stream().noneMatch(slot -> job.mustWait(slot, launchedNanos))) {
            start(next);
        }
    }

    private void start(List<Slot> slots) {
        running = slots;
        applied = target.batching();
        heard = false;
        failed = false;
        launchedNanos = job.nowNanos();
        boolean isTorchrun = job.program().mode() == JobProgram.Mode.TORCHRUN;
        boolean isStarted = isTorchrun ? startTorchrun(slots) : startRanks(slots);
        if (!isStarted) {
            failed = true;
            endWorkers(); // the started workers wait for the others
            return;
        }
        job.save();
        job.reportBound(job.workers().occupied());
    }

    /** One launcher for all slots; returns whether it was started. */
    private boolean startTorchrun(List<Slot> slots) {
        List<String> command = new ArrayList<>(job.program().launcher());
        // Underscores: PyTorch 1.13 knows no other spelling, later versions know both.
        command.addAll(List.of(
                "--nnodes=1:1",
                "--nproc_per_node=" + slots.size(),
                "--max_restarts=0",
                "--monitor_interval=0.1",
                "--rdzv_backend=c10d",
                "--rdzv_endpoint=" + LOCAL + ":0",
                "--rdzv_conf=last_call_timeout=1",
                // PyTorch 1.13 on Python 3.11 accepts no other values: its enumerations lack 0 and 3.
                "--redirects=1",
                "--tee=1",
                "--log_dir=" + job.home().resolve("torchrun")));
        command.addAll(torchrunScript());
        return job.launch(slots, command, Map.of("LENDSTREAM_AFE_MODE", "observe"))
                .isPresent();
    }

    /** A worker for each slot, until one cannot be started; returns whether all were. */
    private boolean startRanks(List<Slot> slots) {
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
            if (job.launch(List.of(slots.get(rank)), slots, job.program().command(), environment)
                    .isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /** torchrun expects a Python script, or with this option any program. */
    private List<String> torchrunScript() {
        List<String> command = job.program().command();
        if (command.get(0).endsWith(".py")) {
            return command;
        }
        List<String> all = new ArrayList<>(List.of("--no_python"));
        all.addAll(command);
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
    public void heard(Worker worker, String type, JsonNode message) {
        heard = true;
        switch (type) {
            case "stopped" -> {
                lastStepNanos = Optional.of(message.path("lastNanos").asLong());
                medianSeconds = message.path("medianSeconds").asDouble();
            }
            case "full" -> {
                long now = message.path("nanos").asLong();
                Optional<Duration> pause = lastStepNanos.map(
                        last -> Duration.ofNanos(Math.max(0, now - last - (long) (medianSeconds * 1e9))));
                lastStepNanos = Optional.empty();
                if (!target.isSettled()) {
                    job.settle(ChangeTimings.between(target.askedNanos(), now, pause));
                }
            }
            default -> {
                // An elastic worker's messages about its group have no meaning here.
            }
        }
    }

    @Override
    public void gone(Worker worker) {
        if (ending) {
            return;
        }
        if (job.lastCode() == 0) {
            finished = true;
            return;
        }
        if (!finished) {
            failed = true;
            job.countFailure(worker);
            endWorkers(); // the others wait for the one that has ended
        }
    }

    @Override
    public boolean isDispensable(Worker worker) {
        return false; // all end together
    }

    @Override
    public MembershipState state() {
        return MembershipState.none(applied);
    }

    @Override
    public void askStore(JsonNode request, ByteBuffer body, EpochStore.Answer answer) {
        answer.error("a job that is restarted has no store here", false);
    }

    @Override
    public void expireStore(long nowNanos) {
        // It has no store.
    }
}
