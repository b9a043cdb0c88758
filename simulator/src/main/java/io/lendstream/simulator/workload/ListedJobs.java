package io.lendstream.simulator.workload;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.JobId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Jobs of which a list says no more than how many GPUs they had and how long.
 *
 * <p>A <em>rigid</em> job runs on exactly its GPUs for exactly its time. An <em>elastic</em> one may have from one to
 * four times its GPUs, by Amdahl's law: nine tenths of its time shrink with GPUs, a tenth does not, so that {@code n}
 * GPUs take it {@code 0.9 g/n + 0.1} of the time that its {@code g} took. Neither learns from larger batches. A start
 * takes 10 s, a change in place 1 s.
 */
final class ListedJobs {
    private static final int ELASTIC_GROWTH = 4;
    private static final double PARALLEL = 0.9;

    /** How many GPUs a job asks for, and how many it may have. */
    private record Gpus(int asked, int least, int most, boolean elastic) {}

    private final Scene scene;

    ListedJobs(Scene scene) {
        this.scene = scene;
    }

    /**
     * One job of a list, rigid or elastic as the scene has it.
     *
     * @param application by which jobs alike are known
     * @param gpus that it had
     * @param seconds that it ran on them
     */
    TrainingTask task(String name, String application, Instant submitted, int gpus, double seconds) {
        return scene.elasticLists()
                ? elastic(name, application, submitted, gpus, seconds)
                : rigid(name, application, submitted, gpus, seconds);
    }

    /** A second an iteration, of one sample a GPU. */
    private TrainingTask rigid(String name, String application, Instant submitted, int gpus, double seconds) {
        TrainingJob.Traits traits = TrainingJob.Traits.ofFixedSize(gpus);
        return task(name, application, submitted, new Gpus(gpus, gpus, gpus, false), traits, seconds);
    }

    /** A second an iteration on its own GPUs, of as many samples a GPU as divide well. */
    private TrainingTask elastic(String name, String application, Instant submitted, int gpus, double seconds) {
        int most = gpus * ELASTIC_GROWTH;
        int total = gpus * 240;
        BatchRange batch = new BatchRange(total, total, 1, total, Optional.of(total));
        double serial = 1 - PARALLEL;
        ThroughputParameters speed = new ThroughputParameters(0, PARALLEL * gpus / total, serial, 0, serial, 0, 1);
        TrainingJob.Traits traits =
                new TrainingJob.Traits(batch, new GoodputProfile(speed, GradientNoise.NONE), RescaleCosts.UNMEASURED);
        return task(name, application, submitted, new Gpus(gpus, 1, most, true), traits, seconds);
    }

    private TrainingTask task(
            String name, String application, Instant submitted, Gpus gpus, TrainingJob.Traits traits, double seconds) {
        TrainingJob job = new TrainingJob(
                new JobId(name),
                scene.domain(),
                submitted,
                application,
                new TrainingJob.Scaling(gpus.asked, gpus.least, gpus.most, gpus.elastic),
                TrainingJob.Precedence.USUAL,
                traits,
                "simulated",
                Optional.empty());
        GoodputProfile known = traits.profile();
        return new TrainingTask(
                job, new ModelTruth(known.throughput(), List.of(known.noise()), traits.batch(), seconds));
    }
}
