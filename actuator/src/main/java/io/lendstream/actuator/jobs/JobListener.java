package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.JobId;
import java.util.List;

/** Receives the results of changes. Called on the host's single thread, so it must not block. */
public interface JobListener {
    /** Workers of the job have started to compute in these slots. */
    void bound(JobId job, List<Slot> slots, DecisionId change, ChangeTimings timings);

    /**
     * No process of the job is left in these slots.
     *
     * @param forced whether workers were killed
     */
    void released(JobId job, List<Slot> slots, DecisionId change, boolean forced, ChangeTimings timings);

    /** All workers of the change compute, with the requested batching. */
    void applied(JobId job, DecisionId change, ChangeTimings timings);

    /**
     * The change will not be completed; earlier reports on it remain valid.
     *
     * @param ofProgram whether the job's program cannot be run on this node
     */
    void failed(JobId job, DecisionId change, String why, boolean ofProgram);

    /** The job has recovered from the loss of workers by itself, and trains again. */
    void recovered(JobId job, List<Slot> lost, ChangeTimings timings);

    /**
     * The job has ended on this node: it has no processes, and none will be started.
     *
     * @param code exit code of its processes; 0 if it finished or was stopped
     * @param lastLines the end of its log
     */
    void exited(JobId job, int code, List<String> lastLines);

    /** How training goes. */
    void progress(JobId job, StepReport report);
}
