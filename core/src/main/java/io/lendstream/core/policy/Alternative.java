package io.lendstream.core.policy;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.util.List;

/**
 * A change that a policy weighed, for {@code explain}.
 *
 * @param job the job whose GPUs would change
 * @param gpus the GPUs that the job would lose; none if only their number was weighed
 * @param size GPUs that the job would have then
 * @param score the value of the change
 * @param measure the unit of the score
 * @param chosen whether the policy chose it
 * @param why the cause of that choice, as a clause that can follow "because"
 */
public record Alternative(
        JobId job, List<GpuId> gpus, int size, double score, String measure, boolean chosen, String why) {
    public Alternative {
        gpus = List.copyOf(gpus);
    }

    Alternative because(boolean isChosen, String reason) {
        return new Alternative(job, gpus, size, score, measure, isChosen, reason);
    }
}
