package io.lendstream.simulator;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.simulator.workload.GroundTruth;
import io.lendstream.simulator.workload.TrainingTask;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * A training job at work. Between changes its progress is exact: within an epoch it is as fast as its placement and
 * batch allow, and epochs end where they end.
 */
final class JobRun {
    private final TrainingTask task;
    private final GroundTruth truth;
    private final GpuPlaces places;
    private final GpuMeter meter;
    private final double progressEverySeconds;
    private final double checkpointEverySeconds;
    private final Instant origin;

    private final JobUnits units;
    private JobPhase phase = JobPhase.QUEUED;
    private Allocation allocation = Allocation.suspended(Mechanism.RESTART);
    private Optional<PendingChange> pending = Optional.empty();
    private double progress;
    private int epoch;
    private int restarts;
    private int inPlace;
    private double gpuSeconds;
    private Optional<Instant> started = Optional.empty();
    private Optional<Instant> completed = Optional.empty();
    /** Up to when all of the above holds, in seconds since {@link #origin}. */
    private double clock;
    /** When it will be done, or crash, if nothing changes; infinite while it does not train. */
    private double doneAt = Double.POSITIVE_INFINITY;
    /** When it trains again after a crash; infinite usually. */
    private double upAgainAt = Double.POSITIVE_INFINITY;
    /** From when its owner withdraws it if it has no GPUs: its hard deadline. */
    private final double withdrawnAt;

    private Optional<Double> crashesAt;
    private Mark runningFrom = new Mark(0, 0, 0);
    /** Its state in the memory of a node, while it is paused there. */
    private Optional<PausedWork> inMemory = Optional.empty();

    /** Where it stood at a time. */
    private record Mark(double clock, double progress, int epoch) {}

    /** @param meter what the time of GPUs is added to */
    JobRun(TrainingTask task, GpuPlaces places, GpuMeter meter, WorldSettings settings, Instant origin) {
        this.task = task;
        this.units = new JobUnits(task.job(), places);
        this.truth = task.truth();
        this.crashesAt = task.fate().crashesAt().map(share -> share * truth.totalProgress());
        this.places = places;
        this.meter = meter;
        this.progressEverySeconds = task.job().scaling().elastic() || settings.rigidProgress()
                ? settings.progressEvery().toMillis() / 1000.0
                : Double.POSITIVE_INFINITY;
        this.checkpointEverySeconds = settings.checkpointEvery().toMillis() / 1000.0;
        this.origin = origin;
        this.clock = seconds(task.job().submittedAt());
        this.withdrawnAt = task.job().hardDeadline().map(this::seconds).orElse(Double.POSITIVE_INFINITY);
    }

    boolean isOver() {
        return phase.isOver();
    }

    /** What it says when it is submitted: how much there is to do. */
    TrainingProgress queued() {
        return said(task.job().submittedAt());
    }

    /** When it next has something to say. */
    Optional<Instant> nextAt() {
        if (phase == JobPhase.RUNNING) {
            return Optional.of(instant(Math.min(nextReport(), doneAt)));
        }
        double next = waits() ? withdrawnAt : upAgainAt;
        return next < Double.POSITIVE_INFINITY ? Optional.of(instant(next)) : Optional.empty();
    }

    /** Works on until a time and says what there is to say meanwhile. */
    void advanceTo(Instant to, Consumer<TrainingProgress> said) {
        double end = seconds(to);
        while (true) {
            double report = nextReport();
            if (phase != JobPhase.RUNNING) {
                if (nextAt().filter(up -> !up.isAfter(to)).isEmpty()) {
                    return;
                }
                workUntil(waits() ? withdrawnAt : upAgainAt);
                completed = waits() ? Optional.of(instant(clock)) : completed;
                become(waits() ? JobPhase.CANCELLED : JobPhase.RUNNING, instant(clock), said);
            } else if (doneAt <= Math.min(end, report) || instant(doneAt).equals(to)) {
                if (crashesAt.isPresent()) {
                    crash(said);
                } else {
                    finish(said);
                }
            } else if (report <= end) {
                workUntil(report);
                said.accept(said(instant(report)));
            } else {
                return;
            }
        }
    }

    /** Whether it has no GPUs and gets some later. */
    private boolean waits() {
        return phase == JobPhase.QUEUED || phase == JobPhase.PAUSED;
    }

    /** GPUs went down with their node, and it with them: it goes back to its last checkpoint and stands still. */
    void lost(Collection<GpuId> gpus, Instant at, Consumer<TrainingProgress> said) {
        Instant when = settle(at);
        if (inMemory.filter(work -> work.isWith(gpus)).isPresent()) {
            progress = inMemory.get().savedProgress();
            epoch = inMemory.get().savedEpoch();
            inMemory = Optional.empty();
            if (phase == JobPhase.PAUSED) {
                become(JobPhase.QUEUED, when, said);
            }
        }
        if (!units.lose(gpus)) {
            return;
        }
        upAgainAt = Double.POSITIVE_INFINITY;
        if (phase == JobPhase.RUNNING) {
            backToCheckpoint();
            become(JobPhase.RESCALING, when, said);
        }
    }

    /**
     * A decision on it was taken up.
     *
     * @param gained the GPUs of the allocation that it did not have and gets; an actuator leaves out what it cannot
     *     give
     */
    void accepted(
            DecisionId decision,
            Allocation next,
            Collection<GpuId> gained,
            Instant at,
            Consumer<TrainingProgress> said) {
        if (isOver()) {
            return;
        }
        Instant when = settle(at);
        Set<GpuId> before = new HashSet<>(
                pending.map(PendingChange::allocation).orElse(allocation).gpus());
        boolean changes = !before.equals(Set.copyOf(next.gpus()));
        if (!changes && !next.isPaused()) {
            inMemory.ifPresent(work -> lost(work.units(), when, said)); // the pause ends
        }
        boolean stillChanging = pending.map(PendingChange::changesGpus).orElse(false);
        pending = Optional.of(new PendingChange(decision, next, changes || stillChanging, false));
        units.gain(gained);
        if (!changes) {
            return;
        }
        inMemory = next.isPaused() ? Optional.of(paused()) : Optional.empty();
        if (!next.gpus().isEmpty()) {
            restarts += started.isPresent() ? 1 : 0;
            boolean stays = !before.isEmpty() && next.mechanism() == Mechanism.AFE;
            inPlace += started.isPresent() && (stays || next.mechanism() == Mechanism.PAUSE) ? 1 : 0;
            started = started.or(() -> Optional.of(when));
        }
        become(JobPhase.RESCALING, when, said);
    }

    /** GPUs of it came up. A gang whose change is in force goes on when it has the last of them. */
    void bound(Collection<GpuId> gpus, Instant at, Consumer<TrainingProgress> said) {
        units.cameUp(gpus);
        pending.filter(PendingChange::isApplied).ifPresent(open -> applied(open.decision(), at, said));
    }

    /** A decision on it is in force. */
    void applied(DecisionId decision, Instant at, Consumer<TrainingProgress> said) {
        if (isOver() || pending.filter(open -> open.decision().equals(decision)).isEmpty()) {
            return;
        }
        PendingChange change = pending.get();
        if (!units.mayRunOn(change.allocation())) {
            pending = Optional.of(new PendingChange(decision, change.allocation(), change.changesGpus(), true));
            return;
        }
        Instant when = settle(at);
        pending.ifPresent(open -> allocation = units.of(open.allocation()));
        resume(when, said);
    }

    /** A decision on it came to nothing: it goes on with what it still has. */
    void failed(DecisionId decision, Collection<GpuId> gpus, Instant at, Consumer<TrainingProgress> said) {
        Instant when = settle(at);
        units.lose(gpus);
        if (isOver() || pending.filter(open -> open.decision().equals(decision)).isEmpty()) {
            return;
        }
        Allocation before = allocation;
        pending.ifPresent(open -> allocation = units.of(open.allocation(), before));
        resume(when, said);
    }

    /** GPUs left it. */
    void released(Collection<GpuId> gpus, Instant at, Consumer<TrainingProgress> said) {
        Instant when = settle(at);
        units.lose(gpus);
        if (isOver()
                || phase == JobPhase.RESCALING
                || allocation.gpus().stream().noneMatch(gpus::contains)) {
            return;
        }
        allocation = units.of(allocation);
        restarts += allocation.gpus().isEmpty() ? 0 : 1;
        resume(when, said);
    }

    /** Its GPUs have other names from now on. */
    void rename(UnaryOperator<GpuId> names) {
        units.rename(names);
        allocation = allocation.renamed(names);
        pending = pending.map(open -> open.renamed(names));
    }

    JobResult result(Instant now) {
        settle(now);
        return new JobResult(
                task.job().job(),
                task.job().application(),
                task.job().submittedAt(),
                started,
                completed,
                restarts,
                inPlace,
                gpuSeconds,
                Math.min(1, progress / truth.totalProgress()),
                phase,
                task.job().precedence().deadline(),
                units.used());
    }

    JobId name() {
        return task.job().job();
    }

    private void resume(Instant at, Consumer<TrainingProgress> said) {
        pending = Optional.empty();
        JobPhase waiting = inMemory.isPresent() ? JobPhase.PAUSED : JobPhase.QUEUED;
        become(allocation.gpus().isEmpty() ? waiting : JobPhase.RUNNING, at, said);
    }

    private void become(JobPhase next, Instant at, Consumer<TrainingProgress> said) {
        boolean news = phase != next || next == JobPhase.RUNNING;
        phase = next;
        doneAt = next == JobPhase.RUNNING ? completion() : Double.POSITIVE_INFINITY;
        upAgainAt = Double.POSITIVE_INFINITY;
        runningFrom = new Mark(clock, progress, epoch);
        if (news) {
            said.accept(said(at));
        }
    }

    /** Its processes die and start again where they were. */
    private void crash(Consumer<TrainingProgress> said) {
        workUntil(doneAt);
        crashesAt = Optional.empty();
        backToCheckpoint();
        restarts++;
        become(JobPhase.RESCALING, instant(clock), said);
        upAgainAt = clock + task.job().traits().costs().first().toMillis() / 1000.0;
    }

    /** Its work, once it is in memory; its last checkpoint is older. */
    private PausedWork paused() {
        Mark now = new Mark(clock, progress, epoch);
        if (phase == JobPhase.RUNNING) {
            backToCheckpoint();
        }
        PausedWork work = new PausedWork(units.held(), progress, epoch);
        progress = now.progress;
        epoch = now.epoch;
        return work;
    }

    private void backToCheckpoint() {
        double ran = clock - runningFrom.clock;
        double kept = Math.floor(ran / checkpointEverySeconds) * checkpointEverySeconds;
        progress = runningFrom.progress;
        epoch = runningFrom.epoch;
        train(runningFrom.clock, runningFrom.clock + kept);
    }

    private void finish(Consumer<TrainingProgress> said) {
        Instant at = instant(doneAt);
        workUntil(doneAt);
        progress = truth.totalProgress();
        epoch = truth.epochs();
        completed = Optional.of(at);
        pending = Optional.empty();
        allocation = Allocation.suspended(allocation.mechanism());
        become(task.fate().end(), at, said);
    }

    /** Brings it up to a time, or leaves it where it is already further; returns where it is then. */
    private Instant settle(Instant at) {
        workUntil(Math.min(seconds(at), doneAt));
        return instant(clock);
    }

    private void workUntil(double end) {
        if (end <= clock) {
            return;
        }
        if (!isOver()) {
            gpuSeconds += units.gpus() * (end - clock);
            if (phase == JobPhase.RUNNING) {
                meter.computing(places.gpus(allocation.gpus()), clock, end);
            } else if (phase == JobPhase.RESCALING) {
                meter.rescaling(units.gpus(), restarts == 0, clock, end);
            }
        }
        if (phase == JobPhase.RUNNING) {
            train(clock, end);
        }
        clock = end;
    }

    private void train(double from, double end) {
        double at = from;
        while (epoch < truth.epochs()) {
            double left = truth.progressAfter(epoch) - progress;
            double goodput = goodput(epoch);
            double epochEnd = at + Math.max(0, left) / goodput;
            if (epochEnd > end) {
                progress += goodput * (end - at);
                break;
            }
            progress = truth.progressAfter(epoch);
            at = epochEnd;
            epoch++;
        }
    }

    private double completion() {
        double target = crashesAt.orElse(truth.totalProgress());
        double at = clock;
        double from = progress;
        for (int next = epoch; next < truth.epochs() && from < target; next++) {
            double to = Math.min(truth.progressAfter(next), target);
            at += Math.max(0, to - from) / goodput(next);
            from = to;
        }
        return at;
    }

    /** Progress per second: iterations at the initial batch size. */
    private double goodput(int during) {
        return on(allocation).goodput(during);
    }

    private AllocatedJob on(Allocation gpus) {
        return new AllocatedJob(task, places, gpus);
    }

    private double nextReport() {
        return progressEverySeconds == Double.POSITIVE_INFINITY
                ? Double.POSITIVE_INFINITY
                : (Math.floor(clock / progressEverySeconds + 1e-9) + 1) * progressEverySeconds;
    }

    private TrainingProgress said(Instant at) {
        AllocatedJob job = on(allocation);
        return phase == JobPhase.RUNNING ? job.report(at, progress, epoch) : job.report(at, phase, progress);
    }

    private double seconds(Instant at) {
        return (at.toEpochMilli() - origin.toEpochMilli()) / 1000.0;
    }

    /** The first millisecond at or after a time. */
    private Instant instant(double seconds) {
        return origin.plusMillis((long) Math.ceil(seconds * 1000 - 1e-6));
    }
}
