package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.JobId;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Reports the results of a job's changes to the listener. */
final class JobReporter {
    private final JobId job;
    private final JobTarget target;
    private final JobListener listener;
    private final LongSupplier nanoClock;

    JobReporter(JobId job, JobTarget target, JobListener listener, LongSupplier nanoClock) {
        this.job = job;
        this.target = target;
        this.listener = listener;
        this.nanoClock = nanoClock;
    }

    /** Reports slots in which workers compute for the first time, by the change that added them. */
    void bound(Map<DecisionId, List<Slot>> slots) {
        slots.forEach((addedBy, all) -> listener.bound(job, all, addedBy, since(target.askedNanos())));
    }

    /** Reports that no process is left in a slot, if the job had to leave it. */
    void released(Slot slot, boolean wasForced) {
        target.release(slot.gpu())
                .ifPresent(release -> listener.released(
                        job, List.of(slot), release.change(), wasForced, since(release.askedNanos())));
    }

    void applied(ChangeTimings timings) {
        listener.applied(job, target.change(), timings);
    }

    void failed(String why, boolean ofProgram) {
        listener.failed(job, target.change(), why, ofProgram);
    }

    void recovered(List<Slot> lost, ChangeTimings timings) {
        listener.recovered(job, lost, timings);
    }

    void exited(int code, List<String> lastLines) {
        listener.exited(job, code, lastLines);
    }

    private ChangeTimings since(long askedNanos) {
        return ChangeTimings.between(askedNanos, nanoClock.getAsLong());
    }
}
