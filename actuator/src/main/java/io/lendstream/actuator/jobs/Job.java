package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job on this node: its target, its workers, its file, and its reports. A {@link Rescaler} brings the workers to
 * the target. All work runs on the host's single thread; after each event {@link #advance} does the next possible
 * steps.
 */
final class Job {
    private static final Logger LOG = LoggerFactory.getLogger(Job.class);
    static final String FILE = "job.json";

    private final JobId id;
    private final Path home;
    private final Shared shared;
    private final WorkerPool workers = new WorkerPool();
    private final WorkerStarter starter;
    private final Failures failures;
    private final JobTarget target;
    private final JobReporter reporter;
    private final JobFileWriter file;
    private JobProgram program;
    private Rescaler rescaler;
    private WorkerExit lastExit = WorkerExit.NONE;
    private boolean over;

    /**
     * The parts that all jobs of a host share.
     *
     * @param socket socket for workers
     * @param environment environment that workers inherit
     * @param nanoClock a clock like {@link System#nanoTime}
     */
    record Shared(Path socket, CleanEnvironment environment, LongSupplier nanoClock) {}

    /** @param home the job's directory */
    Job(
            JobId id,
            JobProgram program,
            Batching batching,
            DecisionId change,
            Path home,
            Shared shared,
            JobListener listener) {
        this.id = id;
        this.program = program;
        this.home = home;
        this.shared = shared;
        this.starter = new WorkerStarter(id, program, home, shared);
        this.failures = new Failures(program.maxRestarts());
        this.target = new JobTarget(batching, change, nowNanos());
        this.reporter = new JobReporter(id, target, listener, shared.nanoClock());
        this.file = new JobFileWriter(id, home.resolve(FILE));
        this.rescaler = program.mode() == JobProgram.Mode.AFE ? new ElasticRescaler(this) : new RestartRescaler(this);
    }

    /** Takes over a job of an earlier node process, including its workers. */
    void adopt(JobFile left) {
        target.restore(left);
        left.workers().forEach(entry -> workers.add(starter.adopt(WorkerIdentity.of(entry))));
        rescaler.adopt(left);
    }

    /**
     * Sets the slots in which the job's workers should run, and no others.
     *
     * @param world the machines over which they train; empty if only on this one
     */
    void resize(List<Slot> slots, Batching batching, DecisionId change, Optional<WorldPart> world) {
        if (target.isSupersededBy(change)) {
            reporter.failed("superseded by " + change, false);
        }
        target.replace(slots, batching, change, world, nowNanos());
        if (world.isPresent()) {
            restartFromNowOn();
        }
        failures.clear();
        save();
        for (Worker worker : workers.all()) {
            if (worker.slots().stream().anyMatch(target::isReleased) && rescaler.isDispensable(worker)) {
                worker.kill();
            }
        }
        reportEmptySlots();
    }

    /** Workers of several machines are changed by restarts, because each node process reaches only its own. */
    private void restartFromNowOn() {
        if (program.mode() == JobProgram.Mode.AFE) {
            LOG.info("{}: it gets GPUs of other machines, so from now on it changes by restarts", id);
            program = program.restarting();
            var next = new RestartRescaler(this);
            next.takeOver(rescaler.state().applied(), Optional.empty());
            rescaler = next;
        }
    }

    void stop(DecisionId lastChange) {
        target.stop();
        resize(List.of(), target.batching(), lastChange, Optional.empty());
    }

    /** Kills the job's processes in these slots. */
    void force(Collection<GpuId> gpus) {
        workers.all().stream().filter(worker -> worker.isInAnyOf(gpus)).forEach(Worker::force);
    }

    /** Does the next possible steps, if there are any. */
    void advance() {
        rescaler.advance();
    }

    void heard(Worker worker, String type, JsonNode message) {
        rescaler.heard(worker, type, message);
    }

    /** Answers a worker's request to the rendezvous store. */
    void askStore(JsonNode request, ByteBuffer body, EpochStore.Answer answer) {
        rescaler.askStore(request, body, answer);
    }

    /** Checks processes: detects ends, and kills workers past their deadline. */
    void look(long nowNanos) {
        if (file.isBehind()) {
            save();
        }
        for (Worker worker : workers.all()) {
            if (worker.isOverdue(nowNanos)) {
                worker.force();
            }
            if (worker.isGone()) {
                remove(worker);
            }
        }
        rescaler.expireStore(nowNanos);
    }

    private void remove(Worker worker) {
        workers.remove(worker);
        lastExit = worker.exit();
        LOG.info("{}: worker {} has ended, exit code {}", id, worker, lastExit.code());
        rescaler.gone(worker);
        worker.slots().forEach(slot -> reporter.released(slot, worker.wasForced()));
        save();
    }

    // The following methods are for the rescaler.

    /** Starts a worker in these slots. A failed start is counted, and reported when the slots are given up. */
    Optional<Worker> launch(List<Slot> slots, List<String> command, Map<String, String> more) {
        return launch(slots, slots, command, more);
    }

    /** Starts a worker in these slots. A failed start counts for all slots of {@code counted}, which wait for it. */
    Optional<Worker> launch(List<Slot> slots, List<Slot> counted, List<String> command, Map<String, String> more) {
        WorkerIdentity identity = WorkerIdentity.create(id, slots, target.causeOf(slots.get(0)));
        try {
            starter.prepare();
            List<JobFile.WorkerEntry> entries = new ArrayList<>(workers.entries());
            entries.add(identity.entry());
            file.write(content(entries)); // before it runs, so that every node process knows it
            Map<String, String> environment = starter.environment(identity, target.batching(), network(), more);
            Worker worker = starter.start(identity, command, environment, workers.names());
            workers.add(worker);
            slots.forEach(slot -> failures.started(slot.gpu()));
            return Optional.of(worker);
        } catch (UncheckedIOException e) {
            IOException cause = Objects.requireNonNull(e.getCause());
            unstarted(identity, counted, Unstarted.perhapsLater(cause, cause instanceof ProgramMissingException));
        } catch (IllegalArgumentException e) {
            unstarted(identity, counted, new Unstarted(true, true, String.valueOf(e.getMessage())));
        }
        save();
        return Optional.empty();
    }

    private Map<String, String> network() {
        if (target.world().isEmpty()) {
            return WorldPart.localNetwork();
        }
        Map<String, String> network = new TreeMap<>(target.world().get().network());
        network.keySet().removeAll(shared.environment().variables().keySet());
        return network;
    }

    /**
     * Why a worker could not be started.
     *
     * @param isHopeless whether no later start can succeed
     * @param ofProgram whether its program cannot be run on this node
     */
    private record Unstarted(boolean isHopeless, boolean ofProgram, String why) {
        static Unstarted perhapsLater(IOException cause, boolean ofProgram) {
            return new Unstarted(false, ofProgram, String.valueOf(ofProgram ? cause.getMessage() : cause));
        }
    }

    private void unstarted(WorkerIdentity identity, List<Slot> slots, Unstarted start) {
        String why = start.why();
        lastExit = WorkerExit.unstarted(why);
        starter.forget(identity);
        slots.forEach(slot -> failures.unstarted(slot.gpu(), start.isHopeless(), nowNanos()));
        boolean isGivenUp = slots.stream().anyMatch(this::isGivenUp);
        LOG.warn("{}: cannot start worker {}{}: {}", id, identity, isGivenUp ? "" : " yet", why);
        if (isGivenUp) {
            reporter.failed(
                    "workers in %s cannot be started: %s"
                            .formatted(slots.stream().map(Slot::gpu).toList(), why),
                    start.ofProgram());
        }
    }

    /** Counts a worker that has failed, and reports when no more are started in its slots. */
    void countFailure(Worker worker) {
        for (Slot slot : worker.slots()) {
            int failed = failures.ended(slot.gpu());
            if (isGivenUp(slot)) {
                reporter.failed(
                        "workers in %s failed %d times, the last with exit code %d; none is started there until the next change"
                                .formatted(slot.gpu(), failed, lastExit.code()),
                        ProgramCheck.isNotRun(lastExit.code()));
            }
        }
    }

    /** Whether workers of a slot have failed so often that no more are started. */
    boolean isGivenUp(Slot slot) {
        return failures.isGivenUp(slot.gpu());
    }

    /**
     * Whether the next start in a slot must wait, because the last start did not succeed or workers have failed there.
     *
     * @param lastNanos start of the delay after failures
     */
    boolean mustWait(Slot slot, long lastNanos) {
        return failures.mustWait(slot.gpu(), nowNanos())
                || nowNanos() - lastNanos < failures.restartDelay(slot.gpu()).toNanos();
    }

    /** The change is complete. */
    void settle(ChangeTimings timings) {
        target.settle();
        save();
        reporter.applied(timings);
    }

    /** Completes a change that needed no measurement. */
    void settle() {
        settle(ChangeTimings.between(target.askedNanos(), nowNanos()));
    }

    /** Reports slots in which workers compute for the first time. */
    void reportBound(Collection<Slot> slots) {
        Map<DecisionId, List<Slot>> fresh = target.bind(slots);
        save();
        reporter.bound(fresh);
    }

    void reportRecovered(List<Slot> lost, ChangeTimings timings) {
        reporter.recovered(lost, timings);
    }

    /** Reports slots without a worker that the job should leave. */
    private void reportEmptySlots() {
        for (Slot slot : target.leaving()) {
            if (!workers.isUsed(slot.gpu())) {
                reporter.released(slot, false);
            }
        }
    }

    /** Ends the job on this node: all its processes have ended, or will not be started. */
    void end(int code) {
        over = true;
        file.remove();
        reportEmptySlots();
        reporter.exited(code, lastExit.lastLines());
    }

    /** Saves the job's file; after a failure it is retried at the next check. */
    void save() {
        if (!over) {
            file.save(content(workers.entries()));
        }
    }

    private JobFile content(List<JobFile.WorkerEntry> entries) {
        MembershipState state = rescaler.state();
        return new JobFile(
                id.value(),
                JobFile.Program.of(program),
                target.wantedEntries(),
                target.batching(),
                state.applied(),
                new JobFile.LastChange(
                        target.change().toString(), target.askedNanos(), target.isSettled(), target.isStopping()),
                target.releaseEntries(),
                entries,
                new JobFile.Membership(
                        state.epoch(), state.members(), state.pending().orElse(null)),
                JobFile.Machines.of(target.world(), state.world(), state.finished()));
    }

    JobId id() {
        return id;
    }

    JobProgram program() {
        return program;
    }

    Path home() {
        return home;
    }

    JobTarget target() {
        return target;
    }

    WorkerPool workers() {
        return workers;
    }

    /** Exit code of the last worker that ended. */
    int lastCode() {
        return lastExit.code();
    }

    boolean isOver() {
        return over;
    }

    long nowNanos() {
        return shared.nanoClock().getAsLong();
    }
}
