package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.DecisionId;
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
 * Changes a job's GPUs by ending its workers, with a checkpoint, and starting new ones. This works for any script
 * that resumes from its checkpoint. With torchrun, one launcher starts all workers. It gets their exact number, and a
 * new launcher is started for another number. So it never waits for more workers to join (its last-call timeout, 30 s
 * by default), does not count a departure as a restart, and keeps its store on this node rather than in a rank.
 *
 * <p>A job over several machines has such a rescaler on each, and they do not talk to each other. A change that one
 * machine knows already ends the workers of another too. So after an end of workers that this machine did not ask for,
 * it waits for a while for a change before it draws conclusions.
 */
final class RestartRescaler implements Rescaler {
    private static final String LOCAL = "127.0.0.1";
    /** Has a worker report the steps of its machine, as rank 0 does. */
    private static final String SPEAKER = "LENDSTREAM_AFE_SPEAKER";
    /** After this time without a message, workers that do not report steps count as training. */
    private static final Duration SILENCE = Duration.ofSeconds(60);
    /** How much later than another machine this one may learn of a change. */
    static final Duration LAG = Duration.ofSeconds(10);
    /** After this time the workers of the first machine have noticed that those of another have failed. */
    static final Duration NOTICE = Duration.ofSeconds(5);
    /** How long a launcher waits for that of the first machine, beside the time that it takes to end its workers. */
    private static final Duration MEETING = Duration.ofMinutes(5);

    private final Job job;
    private final JobTarget target;
    /** Slots of the workers that run, by rank. */
    private List<Slot> running = List.of();

    /** The decision whose world the last workers were part of; empty if they ran on this machine only. */
    private Optional<DecisionId> world = Optional.empty();

    private Batching applied;
    private boolean ending;
    private boolean failed;
    private boolean finished;
    private boolean heard;
    /** Whether the workers said that they end before they have finished, although this machine did not ask them to. */
    private boolean stopped;

    private long launchedNanos;
    private long endedNanos;
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
        takeOver(file.applied(), file.runs());
        finished = file.finished();
        endedNanos = job.nowNanos();
    }

    /**
     * Takes over running workers.
     *
     * @param batching their batching
     * @param of the decision whose world they are part of; empty if they run on this machine only
     */
    void takeOver(Batching batching, Optional<DecisionId> of) {
        applied = batching;
        world = of;
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
        } else if (!ending && isOutdated()) {
            endWorkers();
        } else if (!ending && !target.isSettled() && !heard && job.nowNanos() - launchedNanos > SILENCE.toNanos()) {
            job.settle();
        }
    }

    private boolean isOutdated() {
        return !running.equals(target.slots()) || !applied.equals(target.batching()) || !world.equals(target.worldOf());
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
        if (!target.isStopping() && waitsForOthers(hopeless)) {
            return;
        }
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
        if (target.world().filter(all -> !all.isWhole(next)).isPresent()) {
            return; // the others count on more workers here, so the next change is about all
        }
        if (next.stream().noneMatch(slot -> job.mustWait(slot, launchedNanos))) {
            start(next);
        }
    }

    /**
     * Whether nothing is to be done yet about the end of workers of several machines. Only the first machine, which has
     * rank 0, decides that the job has finished. Another one may still have a checkpoint to write.
     *
     * @param hopeless whether the workers have failed too often
     */
    private boolean waitsForOthers(boolean hopeless) {
        if (world.isEmpty()) {
            return false;
        }
        if (!world.equals(target.worldOf())) { // the end follows from the change
            finished = false;
            failed = false;
            return false;
        }
        boolean leads = target.world().filter(WorldPart::leads).isPresent();
        Duration since = Duration.ofNanos(job.nowNanos() - endedNanos);
        boolean isRecent = since.compareTo(LAG) < 0;
        if (finished && stopped) {
            finished = isRecent;
            return isRecent;
        }
        if (finished) {
            return isRecent || !leads;
        }
        return failed && (hopeless ? isRecent : !leads && since.compareTo(NOTICE) < 0);
    }

    private void start(List<Slot> slots) {
        running = slots;
        world = target.worldOf();
        applied = target.batching();
        heard = false;
        failed = false;
        stopped = false;
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

    /** One launcher for all slots of this machine; returns whether it was started. */
    private boolean startTorchrun(List<Slot> slots) {
        List<String> command = new ArrayList<>(job.program().launcher());
        // Underscores: PyTorch 1.13 knows no other spelling, later versions know both.
        command.addAll(List.of(
                "--nproc_per_node=" + slots.size(),
                "--monitor_interval=0.1",
                "--rdzv_backend=c10d",
                // PyTorch 1.13 on Python 3.11 accepts no other values: its enumerations lack 0 and 3.
                "--redirects=1",
                "--tee=1",
                "--log_dir=" + job.home().resolve("torchrun")));
        command.addAll(target.world()
                .map(this::meeting)
                .orElse(List.of(
                        "--nnodes=1:1",
                        "--max_restarts=0",
                        "--rdzv_endpoint=" + LOCAL + ":0",
                        "--rdzv_conf=last_call_timeout=1")));
        command.addAll(torchrunScript());
        Map<String, String> environment = new TreeMap<>(Map.of("LENDSTREAM_AFE_MODE", "observe"));
        if (target.world().isPresent()) {
            environment.put(SPEAKER, "1");
        }
        return job.launch(slots, command, environment).isPresent();
    }

    /**
     * How the launchers of several machines meet. They restart workers together if some fail, which no launcher alone
     * can do.
     */
    private List<String> meeting(WorldPart all) {
        DecisionId change = target.change();
        long patience = MEETING.plus(job.program().grace()).toSeconds();
        return List.of(
                "--nnodes=" + all.members().size(),
                "--max_restarts=" + job.program().maxRestarts(),
                "--rdzv_id=%s-%d-%d".formatted(JobHome.label(job.id()), change.epoch(), change.sequence()),
                "--rdzv_endpoint=" + all.endpoint(),
                "--rdzv_conf=last_call_timeout=1,is_host=%d,read_timeout=%d,join_timeout=%d"
                        .formatted(all.leads() ? 1 : 0, patience, patience));
    }

    /** A worker for each slot, until one cannot be started; returns whether all were. */
    private boolean startRanks(List<Slot> slots) {
        Optional<WorldPart> all = target.world();
        int first = all.map(WorldPart::firstRank).orElse(0);
        String size = Integer.toString(all.map(WorldPart::size).orElse(slots.size()));
        String master = all.map(WorldPart::master).orElse(LOCAL);
        String port = Integer.toString(all.map(WorldPart::port).orElseGet(RestartRescaler::freePort));
        for (int local = 0; local < slots.size(); local++) {
            Map<String, String> environment = new TreeMap<>(Map.of(
                    "LENDSTREAM_AFE_MODE",
                    "observe",
                    "RANK",
                    Integer.toString(first + local),
                    "WORLD_SIZE",
                    size,
                    "LOCAL_RANK",
                    "0", // each sees one device
                    "LOCAL_WORLD_SIZE",
                    Integer.toString(slots.size()),
                    "MASTER_ADDR",
                    master,
                    "MASTER_PORT",
                    port));
            if (all.isPresent() && local == 0) {
                environment.put(SPEAKER, "1");
            }
            if (job.launch(List.of(slots.get(local)), slots, job.program().command(), environment)
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
                stopped |= !ending;
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
        if (!finished) {
            endedNanos = job.nowNanos();
        }
        if (job.lastCode() == 0) {
            finished = true;
            if (world.isPresent()) {
                job.save(); // until the others have had their time, it must not start again
            }
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
        return MembershipState.none(applied, world, finished && !stopped && world.isPresent());
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
