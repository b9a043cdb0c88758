package io.lendstream.core.lending;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.JobState;
import io.lendstream.core.cluster.Standing;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a policy may know of a job.
 *
 * @param requestedGpus what its owner asked for
 * @param minGpus least it can run on; at least 1
 * @param maxGpus most it can use, by its owner's word and its batch sizes
 * @param elastic whether its number of GPUs may change while it runs
 * @param gpus what it holds or is about to
 * @param largestRun most GPUs it has trained on so far
 * @param changes how often its GPUs were changed after its first start
 * @param attainedGpuSeconds GPU time given to it so far
 * @param goodput as known from its runs; nothing before anything is known
 * @param pace how long it will take
 * @param standing where it stands with a policy that serves jobs in queues; none before its first plan
 * @param costs how long it does not train when its GPUs change
 */
public record JobView(
        JobId job,
        Instant submittedAt,
        int requestedGpus,
        int minGpus,
        int maxGpus,
        boolean elastic,
        List<GpuId> gpus,
        int largestRun,
        int changes,
        double attainedGpuSeconds,
        Optional<Goodput> goodput,
        Pace pace,
        Optional<Standing> standing,
        RescaleCosts costs) {
    public JobView {
        gpus = List.copyOf(gpus);
    }

    /**
     * A job as the scheduler knows it.
     *
     * @param afe whether elastic jobs are changed in place
     */
    public static JobView of(JobState job, Instant now, int gpusPerNode, boolean afe) {
        var spec = job.spec();
        var model = job.model();
        int byBatch = Math.max(1, spec.batch().max() / spec.batch().localMin());
        return new JobView(
                spec.job(),
                spec.submittedAt(),
                spec.requestedGpus(),
                spec.minGpus(),
                Math.max(spec.minGpus(), Math.min(spec.maxGpus(), byBatch)),
                spec.elastic(),
                job.allocation().gpus(),
                job.largestRun(),
                job.changes(),
                job.attainedBy(now),
                Optional.of((nodes, gpus) -> model.best(nodes, gpus).goodput()),
                new ModelPace(model, gpusPerNode, job.progress(), job.totalProgress()),
                job.standing(),
                afe ? spec.costs() : spec.costs().withoutAfe());
    }

    public Duration age(Instant now) {
        Duration age = Duration.between(submittedAt, now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    /** Fewest GPUs that it starts with. */
    int least() {
        return elastic ? minGpus : requestedGpus;
    }

    /** Most GPUs that it may be given. */
    int most() {
        return elastic ? maxGpus : requestedGpus;
    }
}
