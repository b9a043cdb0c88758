package io.lendstream.simulator.published;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.UsableGpus;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.QueuePosition;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * A list of rigid jobs in the timing of the published simulators: in whole seconds; every 60 s the policy plans, GPUs
 * change hands at once, and a job pauses after every change. Nothing serves.
 *
 * <p>Where a policy says how long its plan holds, it is not asked again before then, or before a job comes or goes:
 * that takes O(plans), not O(minutes). A plan's targets are followed as they are: GPUs of jobs that it does not name
 * stay.
 */
final class ListSimulator {
    private static final int TICK = 60;
    /** So that sums of two remain whole numbers of 32 bits. */
    private static final int MOST_SECONDS = 500_000_000;

    private final PublishedSettings settings;
    private final Instant start;
    private final Pauses pauses;
    private final List<ListedRun> runs = new ArrayList<>();
    private final List<GpuState> gpus;
    private final Map<JobId, ListedRun> open = new HashMap<>();
    private final TreeSet<ListedRun> byTurn = new TreeSet<>(ListSimulator::turn);
    private final TreeSet<ListedRun> holding = new TreeSet<>(Comparator.comparingInt(ListedRun::index));
    private final TreeSet<ListedRun> byEnd =
            new TreeSet<>(Comparator.comparingInt(ListedRun::doneAt).thenComparingInt(ListedRun::index));
    private final int lastArrival;
    private int arrived;
    private int clock;
    private double computing;

    /**
     * What came of it.
     *
     * @param computingGpuSeconds GPU time in which jobs trained, until the last of them arrived
     */
    record Outcome(List<ListedRun> runs, int end, int lastArrival, double computingGpuSeconds) {}

    private ListSimulator(Workload list, PublishedSettings settings) {
        this.settings = settings;
        this.start = list.start();
        this.pauses = new Pauses(settings.timing(), settings.afe());
        this.gpus = gpus(settings, start);
        for (TrainingTask task : list.tasks()) {
            runs.add(run(task));
        }
        this.lastArrival = runs.isEmpty() ? 0 : runs.get(runs.size() - 1).submitted();
    }

    /**
     * Runs a list to its end.
     *
     * @throws IllegalArgumentException if there is more in it than rigid jobs that fit the cluster and do not crash
     * @throws IllegalStateException if the policy leaves jobs waiting for ever
     */
    static Outcome run(Workload list, PublishedSettings settings) {
        if (!list.loads().isEmpty()) {
            throw new IllegalArgumentException(
                    "%s has services; lists of jobs are played in published timing without any".formatted(list.name()));
        }
        ListSimulator simulator = new ListSimulator(list, settings);
        simulator.run();
        return new Outcome(simulator.runs, simulator.end(), simulator.lastArrival, simulator.computing);
    }

    private ListedRun run(TrainingTask task) {
        TrainingJob job = task.job();
        if (job.scaling().elastic()) {
            throw new IllegalArgumentException(
                    "job %s is elastic; lists of jobs are played in published timing as rigid ones"
                            .formatted(job.job()));
        }
        if (task.fate().crashesAt().isPresent()) {
            throw new IllegalArgumentException(
                    "job %s crashes on its way; nothing crashes in published timing".formatted(job.job()));
        }
        if (job.scaling().requestedGpus() > settings.gpus()) {
            throw new IllegalArgumentException("job %s asks for %d GPUs, but there are %d for training"
                    .formatted(job.job(), job.scaling().requestedGpus(), settings.gpus()));
        }
        int submitted =
                seconds(job, (double) Duration.between(start, job.submittedAt()).toSeconds());
        int seconds = seconds(job, Math.rint(task.truth().totalProgress()));
        RescaleCosts costs =
                settings.afe() ? job.traits().costs() : job.traits().costs().withoutAfe();
        return new ListedRun(runs.size(), job, task.fate().end(), submitted, seconds, costs, () -> clock);
    }

    private static int seconds(TrainingJob job, double seconds) {
        if (seconds > MOST_SECONDS) {
            throw new IllegalArgumentException("job %s comes after or takes %.0f s, but must not more than %d s"
                    .formatted(job.job(), seconds, MOST_SECONDS));
        }
        return (int) seconds;
    }

    private static List<GpuState> gpus(PublishedSettings settings, Instant start) {
        List<GpuState> all = new ArrayList<>();
        for (int node = 0; node < settings.nodes(); node++) {
            NodeId id = new NodeId("node-%04d".formatted(node));
            for (int slot = 0; slot < settings.gpusPerNode(); slot++) {
                all.add(GpuState.free(new GpuId("%s/%d".formatted(id, slot)), id, Pool.TRAINING, start, 0));
            }
        }
        return List.copyOf(all);
    }

    /** By queue and time in it, newcomers behind the others of the first. */
    private static int turn(ListedRun one, ListedRun other) {
        int order = Integer.compare(queue(one), queue(other));
        order = order != 0 ? order : since(one).compareTo(since(other));
        return order != 0 ? order : Integer.compare(one.index(), other.index());
    }

    private static int queue(ListedRun run) {
        return run.standing().isPresent() ? run.standing().get().queue() : 0;
    }

    private static Instant since(ListedRun run) {
        return run.standing().isPresent() ? run.standing().get().since() : Instant.MAX;
    }

    private int end() {
        return runs.stream().mapToInt(ListedRun::completed).max().orElse(0);
    }

    private void run() {
        int next = TICK;
        while (arrived < runs.size() || !open.isEmpty()) {
            if (clock > 2 * MOST_SECONDS) {
                throw new IllegalStateException("%d jobs are not done after %d s".formatted(open.size(), clock));
            }
            clock = Math.max(next, open.isEmpty() ? tickAt(runs.get(arrived).submitted()) : 0);
            int changed = finish() + arrive();
            next = open.isEmpty() ? clock + TICK : plan(changed > 0);
        }
    }

    /** Ends the jobs that are done, and says how many. */
    private int finish() {
        int done = 0;
        while (!byEnd.isEmpty() && byEnd.first().doneAt() <= clock) {
            ListedRun run = byEnd.pollFirst();
            byTurn.remove(run);
            holding.remove(run);
            open.remove(run.job());
            computing += run.complete(lastArrival);
            done++;
        }
        return done;
    }

    /** Lets jobs arrive, and says how many. */
    private int arrive() {
        int before = arrived;
        while (arrived < runs.size() && runs.get(arrived).submitted() <= clock) {
            ListedRun run = runs.get(arrived++);
            open.put(run.job(), run);
            byTurn.add(run);
        }
        return arrived - before;
    }

    /** Plans, and says when to plan again. */
    private int plan(boolean changed) {
        Plan plan = settings.policy()
                .plan(ClusterView.of(
                        start.plusSeconds(clock),
                        new ClusterView.Queue(
                                Collections.<JobView>unmodifiableCollection(byTurn),
                                byTurn.size(),
                                List.copyOf(holding)),
                        UsableGpus.of(gpus),
                        Set.of(),
                        settings.nodes(),
                        settings.gpusPerNode()));
        boolean moved = adopt(plan);
        if (holding.isEmpty() && arrived == runs.size() && !changed && !moved) {
            throw new IllegalStateException(
                    "%d jobs wait for ever, such as %s of %d GPUs: the policy lets none of them run"
                            .formatted(
                                    open.size(),
                                    byTurn.first().job(),
                                    byTurn.first().requestedGpus()));
        }
        return moved || plan.holdsUntil().isEmpty()
                ? clock + TICK
                : restUntil(plan.holdsUntil().get());
    }

    private boolean adopt(Plan plan) {
        for (Map.Entry<JobId, QueuePosition> entry : plan.standings().entrySet()) {
            ListedRun run = openRun(entry.getKey());
            byTurn.remove(run);
            run.standing(entry.getValue());
            byTurn.add(run);
        }
        boolean moved = false;
        for (Map.Entry<JobId, List<GpuId>> entry : plan.targets().entrySet()) {
            ListedRun run = openRun(entry.getKey());
            if (!run.gpus().equals(entry.getValue())) {
                allocate(run, entry.getValue());
                moved = true;
            }
        }
        return moved;
    }

    private ListedRun openRun(JobId job) {
        return Objects.requireNonNull(open.get(job), "a job that is not open");
    }

    private void allocate(ListedRun run, List<GpuId> target) {
        if (!target.isEmpty() && target.size() != run.requestedGpus()) {
            throw new IllegalStateException("job %s asked for %d GPUs, but the policy gives it %d"
                    .formatted(run.job(), run.requestedGpus(), target.size()));
        }
        byEnd.remove(run);
        holding.remove(run);
        int pause = pauses.seconds(run.costs(), run.gpus().size(), target.size());
        computing += run.allocate(target, clock, pause, lastArrival);
        if (!target.isEmpty()) {
            byEnd.add(run);
            holding.add(run);
        }
    }

    /** The first tick at which something has changed, or at which a plan no longer holds. */
    private int restUntil(Instant end) {
        long seconds = end.isBefore(Instant.MAX) ? Duration.between(start, end).toSeconds() : ListedRun.NEVER - TICK;
        seconds = Math.min(seconds, byEnd.isEmpty() ? seconds : byEnd.first().doneAt());
        seconds = Math.min(seconds, arrived < runs.size() ? runs.get(arrived).submitted() : seconds);
        return Math.max(clock + TICK, tickAt((int) seconds));
    }

    private static int tickAt(int second) {
        return Math.max(TICK, (second + TICK - 1) / TICK * TICK);
    }
}
