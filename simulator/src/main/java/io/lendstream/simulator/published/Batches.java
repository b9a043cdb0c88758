package io.lendstream.simulator.published;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.policy.Goodput;
import java.util.Optional;

/** Chooses the batch of a job, by its known goodput. */
interface Batches {
    /** The batch for a placement. */
    Batch choose(int nodes, int replicas);

    /** Tells of a step that the job has run with the batch last chosen. */
    void observed(int nodes, int replicas, StepTable.Point step, GradientNoise noise);

    /** Its goodput as far as it is known. */
    Optional<Goodput> goodput();
}
