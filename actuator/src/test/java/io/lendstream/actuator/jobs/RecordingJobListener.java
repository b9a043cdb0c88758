package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/** Keeps what a host tells, each event as a line, for tests to wait for. */
class RecordingJobListener implements JobListener {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<String> lines = new ArrayList<>();
    private final List<StepReport> reports = new ArrayList<>();

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    synchronized List<StepReport> reports() {
        return List.copyOf(reports);
    }

    void await(String line) throws InterruptedException {
        awaitUntil(() -> lines.contains(line), line);
    }

    void awaitStep(long step) throws InterruptedException {
        awaitUntil(() -> !reports.isEmpty() && reports.get(reports.size() - 1).step() >= step, "step " + step);
    }

    /** Waits for something that no event tells, too. */
    synchronized void awaitUntil(BooleanSupplier condition, String what) throws InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            long left = (until - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError("waited in vain for %s; heard %s".formatted(what, lines));
            }
            wait(Math.min(left, 50));
        }
    }

    synchronized void say(String line) {
        lines.add(line);
        notifyAll();
    }

    @Override
    public void bound(JobId job, List<Slot> slots, DecisionId change, ChangeTimings timings) {
        say("bound %s by %d".formatted(gpus(slots), change.sequence()));
    }

    @Override
    public void released(JobId job, List<Slot> slots, DecisionId change, boolean forced, ChangeTimings timings) {
        say("released %s by %d%s".formatted(gpus(slots), change.sequence(), forced ? ", forced" : ""));
    }

    @Override
    public void applied(JobId job, DecisionId change, ChangeTimings timings) {
        say("applied %d".formatted(change.sequence()));
    }

    @Override
    public void failed(JobId job, DecisionId change, String why, boolean ofProgram) {
        say("failed %d: %s".formatted(change.sequence(), why));
    }

    @Override
    public void recovered(JobId job, List<Slot> lost, ChangeTimings timings) {
        say("recovered without %s".formatted(gpus(lost)));
    }

    @Override
    public void exited(JobId job, int code, List<String> lastLines) {
        say("exited %d".formatted(code));
    }

    @Override
    public synchronized void progress(JobId job, StepReport report) {
        reports.add(report);
        notifyAll();
    }

    private static String gpus(List<Slot> slots) {
        return String.join(
                "+",
                new TreeSet<>(slots.stream().map(Slot::gpu).map(GpuId::value).toList()));
    }
}
