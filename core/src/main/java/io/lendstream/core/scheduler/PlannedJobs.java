package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.state.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Describes, in a sentence, the GPUs that a rehearsed plan gives to the jobs while it leaves a GPU idle. */
final class PlannedJobs {
    /** The most jobs that the sentence names; the rest is a number. */
    private static final int MOST_NAMED = 3;

    private final Scheduler scheduler;
    private final Rehearsal rehearsal;
    private final Instant now;
    private final Map<Rehearsal.Planned, String> sentences = new HashMap<>();

    PlannedJobs(Scheduler scheduler, Rehearsal rehearsal, Instant now) {
        this.scheduler = scheduler;
        this.rehearsal = rehearsal;
        this.now = now;
    }

    /** The sentence, which is the same for every GPU that a plan gives to no job. */
    String inWords(Rehearsal.Planned planned) {
        return sentences.computeIfAbsent(planned, this::sentence);
    }

    private String sentence(Rehearsal.Planned planned) {
        List<String> named = new ArrayList<>();
        int left = 0;
        for (JobView job : planned.view().queue()) {
            if (named.size() < MOST_NAMED) {
                named.add(clause(planned, job));
            } else {
                left++;
            }
        }
        if (named.isEmpty()) {
            named.add("no job waits for or uses GPUs of its kind");
        }
        if (left > 0) {
            named.add("and " + Reason.counted(left, "more job"));
        }
        return "policy %s gives it to no job: %s"
                .formatted(scheduler.policy().info().name(), String.join("; ", named));
    }

    private String clause(Rehearsal.Planned planned, JobView job) {
        ClusterView view = planned.view();
        Plan plan = planned.plan();
        int size = plan.targets().getOrDefault(job.job(), job.gpus()).size();
        if (view.fixed().contains(job.job())) {
            return fixed(rehearsal.before().jobs().require(job.job()));
        }
        if (size >= job.most()) {
            return "%s gets %s that it can use"
                    .formatted(job.job(), size == 1 ? "the 1 GPU" : "all " + Reason.counted(size, "GPU"));
        }
        if (size == 0 && job.least() == ShapedJob.NO_SIZE) {
            JobState state = rehearsal.before().jobs().require(job.job());
            return "%s waits for nodes that its shape (%s) fits"
                    .formatted(job.job(), state.spec().shape().inWords());
        }
        if (size == 0 && view.capacity() < job.least()) {
            return "%s needs %s at once, and training may use %d"
                    .formatted(job.job(), Reason.counted(job.least(), "GPU"), view.capacity());
        }
        Optional<Alternative> more = scheduler.policy().sizes(view, job.job()).stream()
                .filter(weighed -> weighed.size() > size && !weighed.chosen())
                .findFirst();
        return "%s gets %d of at most %s%s"
                .formatted(
                        job.job(),
                        size,
                        Reason.counted(job.most(), "GPU"),
                        more.map(weighed -> ", not %d, because %s".formatted(weighed.size(), weighed.why()))
                                .orElse(""));
    }

    private String fixed(JobState job) {
        Optional<String> changing = job.changing()
                .map(decision -> "%s is being changed by decision %s"
                        .formatted(job.spec().job(), decision));
        if (changing.isEmpty() && job.waitsForProgram()) {
            return "%s gets no further GPU now, because its program could not be run: %s"
                    .formatted(
                            job.spec().job(), job.change().fault().orElseThrow().why());
        }
        return changing.orElseGet(() ->
                "%s was changed a short time ago, and no plan changes it for another %d s (scheduler.min-hold is %d s)"
                        .formatted(
                                job.spec().job(),
                                Duration.between(now, Training.heldUntil(job, scheduler.settings()))
                                        .toSeconds(),
                                scheduler.settings().changeLimits().minHold().toSeconds()));
    }
}
