package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Event;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Gives waiting jobs the fewest GPUs that they run on, out of the nominal quota of their queue. Free GPUs come first;
 * then queues of the cohort give what they have beyond their nominal quota. If the GPUs do not suffice for a job, none
 * is taken. The GPUs are promised to the job, and bound when the last of them is free.
 *
 * @see QuotaClaims
 */
final class QuotaAsks {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final Safety safety;
    private final QuotaGuard guard;

    QuotaAsks(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.safety = new Safety(settings);
        this.guard = new QuotaGuard(builder);
    }

    /** Decides what queues may claim now. */
    void run() {
        if (!guard.isOn() || safety.againstChanges(builder).isPresent()) {
            return;
        }
        new LimitReturns(builder, settings).run();
        ReplicaAsks replicas = new ReplicaAsks(builder, policy, settings);
        boolean answers = isAnswerDue();
        if (answers) {
            new AdmissionControl(builder, settings).answer();
        }
        if (!answers && !isDue() && !replicas.isShort()) {
            return;
        }
        new FloorAsks(builder, settings).run();
        replicas.run();
        List<JobState> waiting = waiting();
        if (!waiting.isEmpty()) {
            QuotaClaims claims = new QuotaClaims(builder, policy, settings);
            waiting.forEach(claims::ask);
        }
    }

    /**
     * Whether this step plans, and a job with a hard deadline asks for its answer. The answers then come before the
     * claims, so that an admitted job need not wait for the next plan to claim. Else they come with the plan.
     */
    private boolean isAnswerDue() {
        boolean isPlanned =
                builder.nextPlanAt().filter(at -> !at.isAfter(builder.now())).isPresent();
        return isPlanned && safety.againstPlans(builder.now()).isEmpty() && isSomeJobAsking();
    }

    private boolean isSomeJobAsking() {
        for (JobState job : builder.clusterIndex().jobs().refused().values()) {
            if (AdmissionControl.isOfQueue(builder, job)
                    && job.spec().hardDeadline().isPresent()) {
                return true;
            }
        }
        for (JobState job : builder.entities().waitingJobs()) {
            if (AdmissionControl.isOfQueue(builder, job) && awaitsAnswer(job)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the event, or this step, has changed claims. Rates, forecasts, samples and reports that change no owner
     * do not: loans may become possible by a rate, but the jobs wait for the next plan then.
     */
    private boolean isDue() {
        Event event = builder.event();
        return builder.matters()
                || event.isTick()
                || event.asJob().isPresent()
                || event.asService().isPresent()
                || event.asNode().isPresent()
                || event.asQueue().isPresent()
                || event.asCommand().isPresent()
                || event.changesSettings();
    }

    /** The reason for a job that gets the GPUs that were promised to it. */
    static PlanReason start(JobState job) {
        String gpus = Reason.counted(job.target().size(), "GPU");
        return new PlanReason(
                "%s starts with %s of the nominal quota of its queue"
                        .formatted(job.spec().job(), gpus),
                Map.of());
    }

    /** Jobs of queues that have no GPU and no prospect of one: by priority, then in the order of submission. */
    private List<JobState> waiting() {
        List<JobState> waiting = new ArrayList<>();
        for (JobState job : builder.entities().waitingJobs()) {
            if (!job.isOnSlice()
                    && job.changing().isEmpty()
                    && job.target().isEmpty()
                    && !isJustChanged(job)
                    && !awaitsAnswer(job)
                    && AdmissionControl.isOfQueue(builder, job)) {
                waiting.add(job);
            }
        }
        waiting.sort(
                Comparator.comparingInt((JobState job) -> -builder.entities().priorityOf(job))
                        .thenComparing(job -> job.spec().submittedAt())
                        .thenComparing(job -> job.spec().job()));
        return waiting;
    }

    /** Whether a job lost its GPUs a short time ago: one that never starts must not take GPUs again and again. */
    private boolean isJustChanged(JobState job) {
        return job.usage().startedAt().isPresent()
                && job.usage().attainedUpTo().plus(settings.notice()).isAfter(builder.now());
    }

    /** Whether a job with a hard deadline waits for its answer, which comes with the next plan. */
    private static boolean awaitsAnswer(JobState job) {
        return job.spec().hardDeadline().isPresent() && job.admission().isEmpty();
    }
}
