package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The reasons for moves of jobs towards a plan. */
record MoveReasons(StepBuilder builder) {
    /** The reason for a move, by the plan if it is new. */
    PlanReason of(JobState job, Optional<PlanReason> planned, List<GpuId> gained) {
        return withKinds(job, withLosses(job, because(job, planned, gained)));
    }

    /** The reason for the release of all GPUs of a job that is over. */
    static PlanReason ended(JobState job) {
        String ended = switch (job.phase()) {
            case FAILED -> "failed";
            case CANCELLED -> "was cancelled";
            default -> "finished";
        };
        String held = job.paused()
                .map(at -> "the host memory of node " + at.node())
                .orElseGet(() -> Reason.counted(job.allocation().gpus().size(), JobChanges.Returned.unit(job)));
        return new PlanReason("%s %s and releases %s".formatted(job.spec().job(), ended, held), Map.of());
    }

    /** The reason for the first step of a change, in which a job gives up GPUs before it gets others. */
    static PlanReason first(JobState job, PlanReason why, int given) {
        String units = Reason.counted(given, JobChanges.Returned.unit(job));
        return new PlanReason(why.text() + "; first it gives up " + units, why.numbers());
    }

    /** The plan's reason, with the GPUs that a job gains although it shrinks; without one, that of a next step. */
    private PlanReason because(JobState job, Optional<PlanReason> planned, List<GpuId> gained) {
        if (planned.isEmpty()) {
            return builder.promises().has(job.spec().job()) ? QuotaAsks.start(job) : nextStep(job, gained);
        }
        PlanReason why = planned.get();
        if (gained.isEmpty() || job.target().size() >= job.gpus()) {
            return why;
        }
        String others = Reason.counted(gained.size(), "other GPU");
        return new PlanReason(why.text() + "; it gets " + others, why.numbers());
    }

    /** The reason with the kinds of a job's GPUs, if they change. */
    private PlanReason withKinds(JobState job, PlanReason why) {
        Set<KindId> before = kinds(job.allocation().gpus());
        Set<KindId> after = kinds(job.target());
        return before.isEmpty() || after.isEmpty() || before.equals(after)
                ? why
                : new PlanReason(
                        "%s; its GPUs change from %s to %s".formatted(why.text(), inWords(before), inWords(after)),
                        why.numbers());
    }

    private Set<KindId> kinds(List<GpuId> gpus) {
        Set<KindId> kinds = new TreeSet<>();
        for (GpuId gpu : gpus) {
            builder.gpus().get(gpu).flatMap(GpuState::kind).ifPresent(kinds::add);
        }
        return kinds;
    }

    private static String inWords(Set<KindId> kinds) {
        return kinds.stream().map(KindId::value).collect(Collectors.joining(" and "));
    }

    /** The reason with the nodes that are not ready, if the job loses GPUs there. */
    private PlanReason withLosses(JobState job, PlanReason why) {
        if (job.target().containsAll(job.allocation().gpus())) {
            return why;
        }
        String nodes = job.allocation().gpus().stream()
                .filter(gpu -> !job.target().contains(gpu))
                .flatMap(gpu -> builder.gpus().get(gpu).stream())
                .map(GpuState::nodeId)
                .filter(node -> !builder.isReachable(node))
                .distinct()
                .sorted()
                .map(node -> "; node " + node + " is not ready")
                .collect(Collectors.joining());
        return nodes.isEmpty() ? why : new PlanReason(why.text() + nodes, why.numbers());
    }

    /** The reason for a step towards an earlier plan. */
    private PlanReason nextStep(JobState job, List<GpuId> gained) {
        boolean justFreed = gained.stream()
                .map(builder::gpu)
                .anyMatch(gpu -> gpu.isFree() && gpu.changedBy() == builder.eventSequence());
        return new PlanReason(
                "%s: next step of the planned move to %s%s"
                        .formatted(
                                job.spec().job(),
                                Reason.counted(job.target().size(), "GPU"),
                                justFreed ? " (GPUs just became free)" : ""),
                Map.of("gpusPlanned", (double) job.target().size()));
    }
}
