package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.JobId;
import java.util.List;

/** Hears what becomes of changes. Called on the host's one thread, so it must not block. */
public interface JobListener {
    /** Workers of the job have begun to compute in these slots. */
    void bound(JobId job, List<Slot> slots, DecisionId change, ChangeTimings timings);

    /**
     * No process of the job is left in these slots.
     *
     * @param forced workers had to be killed
     */
    void released(JobId job, List<Slot> slots, DecisionId change, boolean forced, ChangeTimings timings);

    /** All workers of the change compute, with the batch that it asked for. */
    void applied(JobId job, DecisionId change, ChangeTimings timings);

    /** The change will not be completed; what was reported of it so far stands. */
    void failed(JobId job, DecisionId change, String why);

    /** The job has recovered from the loss of workers and trains again, by itself. */
    void recovered(JobId job, List<Slot> lost, ChangeTimings timings);

    /**
     * The job is over on this node: nothing of it runs or will be started.
     *
     * @param code exit code of its processes; 0 if it finished or was stopped
     * @param lastLines the end of its log
     */
    void exited(JobId job, int code, List<String> lastLines);

    /** How training goes. */
    void progress(JobId job, StepReport report);
}
