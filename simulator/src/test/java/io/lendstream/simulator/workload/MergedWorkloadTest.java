package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MergedWorkloadTest {
    private static final BatchRange BATCH = new BatchRange(128, 4096, 32, 1024, Optional.empty());
    private static final ThroughputParameters SPEED =
            new ThroughputParameters(0.02, 0.0006, 0.05, 0.002, 0.012, 0.001, 2);
    private static final GradientNoise NOISE = new GradientNoise(1, 20);

    @Test
    void theSecondJobOfANameGetsANumberAndKeepsAllElse() {
        TrainingTask task = task();

        List<TrainingTask> merged =
                Workload.merged(List.of(workload(task), workload(task))).tasks();

        assertThat(merged).extracting(each -> each.job().job().value()).containsExactly("bert", "bert-2");
        assertThat(merged.get(1).job())
                .usingRecursiveComparison()
                .ignoringFields("job")
                .isEqualTo(task.job());
        assertThat(merged.get(1).truth()).isEqualTo(task.truth());
    }

    private static Workload workload(TrainingTask task) {
        return new Workload("list", Workload.EPOCH, List.of(task), List.of());
    }

    private static TrainingTask task() {
        TrainingJob job = new TrainingJob(
                new JobId("bert"),
                new DomainId("merged"),
                Workload.EPOCH.plusSeconds(10),
                "language",
                new TrainingJob.Scaling(2, 1, 8, true),
                new TrainingJob.Precedence(3, Optional.of(Workload.EPOCH.plusSeconds(7200))),
                new TrainingJob.Traits(
                        BATCH,
                        new GoodputProfile(SPEED, NOISE),
                        new RescaleCosts(Duration.ofSeconds(20), Duration.ofSeconds(3))),
                "simulated",
                Optional.of(8L << 30));
        return new TrainingTask(job, new ModelTruth(SPEED, List.of(NOISE, NOISE), BATCH, 20_000));
    }
}
