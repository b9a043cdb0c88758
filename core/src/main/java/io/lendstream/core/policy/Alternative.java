package io.lendstream.core.policy;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.util.List;

/**
 * Something that a policy weighed, told to people afterwards.
 *
 * @param job whose GPUs would change
 * @param gpus the GPUs that it would lose; none where only their number was weighed
 * @param size GPUs that it would have then
 * @param score what it came to
 * @param measure what the score counts
 * @param chosen whether it was done
 * @param why it was, or was not
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
