package io.lendstream.core.history;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The invariants of every state. */
public final class Invariants {
    private Invariants() {}

    /** The faults of a state; empty if there are none. */
    public static List<Violation> check(ClusterState state) {
        return check(state, Set.of());
    }

    /**
     * The same, where some jobs may hold fewer GPUs than they can run on.
     *
     * @param broken jobs that lost GPUs while nothing could be decided, or whose owner asks for more than they hold,
     *     until the next decision about them
     */
    static List<Violation> check(ClusterState state, Set<JobId> broken) {
        List<Violation> violations = new ArrayList<>();
        Map<GpuId, JobId> claimed = allocations(state, violations);
        if (!state.mode().isAdvisory()) {
            brokenGangs(state)
                    .filter(job -> !broken.contains(job.spec().job()))
                    .forEach(job -> violations.add(gang(job)));
        }
        overlaps(state, violations);
        for (GpuState gpu : state.gpus().values()) {
            owner(gpu, Optional.ofNullable(claimed.get(gpu.gpuId())), violations);
        }
        return violations;
    }

    /**
     * Each unit is allocated to one job at most, and a job has one MIG instance alone or whole GPUs; the job by unit.
     */
    private static Map<GpuId, JobId> allocations(ClusterState state, List<Violation> violations) {
        Map<GpuId, JobId> claimed = new HashMap<>();
        for (JobState job : state.jobs().values()) {
            for (GpuId gpu : job.allocation().gpus()) {
                JobId other = claimed.put(gpu, job.spec().job());
                if (other != null) {
                    violations.add(Rule.ONE_OWNER.violation("%s is allocated to %s and %s"
                            .formatted(gpu, other, job.spec().job())));
                }
            }
            boolean several = job.allocation().gpus().size() > 1;
            if (several && job.allocation().gpus().stream().anyMatch(gpu -> isInstance(state, gpu))) {
                violations.add(
                        Rule.INSTANCES.violation("job %s is to train on several units, one of them a MIG instance: %s"
                                .formatted(job.spec().job(), job.allocation().gpus())));
            }
        }
        return claimed;
    }

    /**
     * A unit belongs to the job that it is allocated to; jobs have units of inference by a lease, and no others.
     *
     * @param claim the job that it is allocated to
     */
    private static void owner(GpuState gpu, Optional<JobId> claim, List<Violation> violations) {
        if (!jobOf(gpu).equals(claim)) {
            violations.add(Rule.ONE_OWNER.violation(
                    "%s is %s, but is allocated to %s".formatted(gpu.gpuId(), gpu.owner(), claim)));
        }
        if (gpu.owner().isLent() && gpu.pool() != Pool.INFERENCE) {
            violations.add(Rule.LEND.violation("%s is lent, but is not inference's".formatted(gpu.gpuId())));
        }
        if (gpu.intruders().isPresent() && gpu.owner().holder().isEmpty()) {
            violations.add(Rule.ONE_OWNER.violation("%s is %s, but has %s beside its tenant"
                    .formatted(gpu.gpuId(), gpu.owner(), gpu.intruders().get().users())));
        }
        boolean isHeldForGood =
                gpu.owner().isUp() && gpu.owner().isHeldByJob() && !gpu.owner().isLent();
        if (isHeldForGood && gpu.pool() != Pool.TRAINING) {
            violations.add(Rule.LEND.violation("%s is held without a lease".formatted(gpu.gpuId())));
        }
    }

    /** Jobs that hold GPUs, but fewer than they can run on. Those that are over give theirs back one by one. */
    static Stream<JobState> brokenGangs(ClusterState state) {
        return state.jobs().stream()
                .filter(job -> !job.isOver()
                        && job.gpus() > 0
                        && job.gpus() < job.spec().scaling().least());
    }

    private static Violation gang(JobState job) {
        return Rule.GANG.violation("job %s holds %s, but runs on %d or more"
                .formatted(
                        job.spec().job(),
                        Reason.counted(job.gpus(), "GPU"),
                        job.spec().scaling().least()));
    }

    /** Units that can be assigned do not share memory. */
    private static void overlaps(ClusterState state, List<Violation> violations) {
        Map<GpuId, List<MigInstance>> there = new HashMap<>();
        Set<GpuId> whole = new HashSet<>();
        for (GpuState unit : state.gpus().values()) {
            boolean usable = !unit.owner().isRecutting() && !unit.owner().isQuarantined();
            if (usable && unit.isWhole()) {
                whole.add(unit.gpuId());
            }
            if (usable && unit.instance().isPresent()) {
                MigInstance instance = unit.instance().get();
                List<MigInstance> others = there.computeIfAbsent(instance.gpu(), gpu -> new ArrayList<>());
                others.stream()
                        .filter(instance::overlaps)
                        .forEach(other -> violations.add(
                                Rule.INSTANCES.violation("%s and %s overlap".formatted(instance, other))));
                others.add(instance);
            }
        }
        there.keySet().stream()
                .filter(whole::contains)
                .sorted()
                .forEach(gpu -> violations.add(
                        Rule.INSTANCES.violation("%s can be given as a whole and in instances".formatted(gpu))));
    }

    private static boolean isInstance(ClusterState state, GpuId gpu) {
        return state.gpus().get(gpu).filter(unit -> !unit.isWhole()).isPresent();
    }

    private static Optional<JobId> jobOf(GpuState gpu) {
        return gpu.owner().isReleasing() ? Optional.empty() : gpu.owner().holdingJob();
    }
}
