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
    /** Columns of our own list: {@code true} or {@code false}, and how many GPUs an elastic job may have. */
    static final List<String> COLUMNS = List.of("elastic", "minGpus", "maxGpus");

    private static final int ELASTIC_GROWTH = 4;
    /** An elastic job has as many samples for each of its GPUs, and at least one on each that it gets. */
    private static final int SAMPLES = 240;

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

    /** The same where the line may say whether the job is elastic, and within which bounds. */
    TrainingTask task(CsvRow row, String name, String application, Instant submitted, int gpus, double seconds) {
        boolean isElastic = switch (row.text("elastic")) {
            case "" -> scene.elasticLists();
            case "true" -> true;
            case "false" -> false;
            default -> throw row.bad("elastic", "true or false");
        };
        if (!isElastic) {
            for (String column : List.of("minGpus", "maxGpus")) {
                if (!row.text(column).isEmpty()) {
                    throw row.bad(column, "nothing, because the job is rigid; set elastic to true");
                }
            }
            return rigid(name, application, submitted, gpus, seconds);
        }
        int least = row.text("minGpus").isEmpty() ? 1 : row.whole("minGpus", 1);
        int most = row.text("maxGpus").isEmpty() ? gpus * ELASTIC_GROWTH : row.whole("maxGpus", 1);
        if (least > gpus) {
            throw row.bad("minGpus", "at most %d, the GPUs that it had".formatted(gpus));
        }
        if (most < gpus || most > gpus * SAMPLES) {
            throw row.bad("maxGpus", "a whole number from %d to %d".formatted(gpus, gpus * SAMPLES));
        }
        return elastic(name, application, submitted, new Gpus(gpus, least, most, true), seconds);
    }

    /** A second an iteration, of one sample a GPU. */
    private TrainingTask rigid(String name, String application, Instant submitted, int gpus, double seconds) {
        TrainingJob.Traits traits = TrainingJob.Traits.ofFixedSize(gpus);
        return task(name, application, submitted, new Gpus(gpus, gpus, gpus, false), traits, seconds);
    }

    /** A second an iteration on its own GPUs, of as many samples a GPU as divide well. */
    private TrainingTask elastic(String name, String application, Instant submitted, int gpus, double seconds) {
        return elastic(name, application, submitted, new Gpus(gpus, 1, gpus * ELASTIC_GROWTH, true), seconds);
    }

    private TrainingTask elastic(String name, String application, Instant submitted, Gpus sizes, double seconds) {
        int gpus = sizes.asked;
        int total = gpus * SAMPLES;
        BatchRange batch = new BatchRange(total, total, 1, total, Optional.of(total));
        double serial = 1 - PARALLEL;
        ThroughputParameters speed = new ThroughputParameters(0, PARALLEL * gpus / total, serial, 0, serial, 0, 1);
        TrainingJob.Traits traits =
                new TrainingJob.Traits(batch, new GoodputProfile(speed, GradientNoise.NONE), RescaleCosts.UNMEASURED);
        return task(name, application, submitted, sizes, traits, seconds);
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
