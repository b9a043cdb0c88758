package io.lendstream.simulator.published;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.simulator.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublishedSimulatorTest {
    private static final int PAUSE = 103;

    @TempDir
    private Path directory;

    private Path traces = Path.of("");

    @BeforeEach
    void measure() throws IOException {
        traces = TinyTraces.in(directory);
    }

    private static PublishedWorkload.Row job(String name, int second, int gpus) {
        return new PublishedWorkload.Row(name, second, "bert", gpus, 12, 4);
    }

    private static PublishedWorkload.Row request(String name, int second, int duration) {
        return new PublishedWorkload.Row(name, second, "infer-bert-1", 1, 1, duration);
    }

    private PublishedRun run(PublishedSettings settings, PublishedWorkload.Row... rows) {
        return PublishedSimulator.run(
                new PublishedWorkload("tiny", Arrays.asList(rows)), traces, settings, Workload.EPOCH);
    }

    @Test
    void aJobStartsAtATickPausesAndTrainsInWholeSeconds() {
        TrainingRun job = run(PublishedSettings.of("tiresias", 2, 4), job("bert-0", 7, 1))
                .trainings()
                .get(0);

        assertThat(job.started()).isEqualTo(60);
        // An iteration of 12 samples takes 2 s, so that an epoch takes 202 s.
        assertThat(job.completed()).isEqualTo(60 + PAUSE + 2 * 2 * TinyTraces.EPOCH);
        assertThat(job.restarts()).isZero();
        assertThat(job.pausedGpuSeconds()).isEqualTo(PAUSE);
    }

    @Test
    void withPolluxTimingEveryChangeCosts30Seconds() {
        PublishedSettings settings = PublishedSettings.of("tiresias", 2, 4).withTiming(PublishedSettings.Timing.POLLUX);

        assertThat(run(settings, job("bert-0", 7, 1)).trainings().get(0).completed())
                .isEqualTo(60 + 30 + 4 * TinyTraces.EPOCH);
    }

    @Test
    void aRequestFindsAWarmReplicaUntilItsGpuIsTaken() {
        List<RequestBatchRun> requests = run(
                        PublishedSettings.of("tiresias", 2, 4),
                        request("cold", 1, 5),
                        request("protected", 30, 5),
                        request("asleep", 500, 5))
                .requests();

        assertThat(requests).extracting(RequestBatchRun::isCold).containsExactly(true, false, false);
        assertThat(requests).extracting(RequestBatchRun::started).containsExactly(1, 30, 500);
        assertThat(requests).extracting(RequestBatchRun::completed).containsExactly(1 + 8 + 5, 35, 505);
    }

    @Test
    void withoutWarmReplicasEveryRequestIsCold() {
        PublishedSettings settings = PublishedSettings.of("tiresias", 2, 4).withWarmReplicas(false);

        assertThat(run(settings, request("one", 1, 5), request("two", 20, 5)).requests())
                .allMatch(RequestBatchRun::isCold);
    }

    @Test
    void aRequestThatArrivesAtATickWaitsForTheNextEvent() {
        List<RequestBatchRun> requests = run(
                        PublishedSettings.of("tiresias", 2, 4), request("at-a-tick", 60, 5), request("next", 70, 5))
                .requests();

        assertThat(requests.get(0).started()).isEqualTo(70);
    }

    @Test
    void aRequestThatArrivesAtATickIsServedWhereNothingElseIsToCome() {
        PublishedRun run = run(PublishedSettings.of("tiresias", 2, 4), job("bert-0", 1, 1), request("last", 120, 5));

        assertThat(run.requests().get(0).started()).isEqualTo(121);
    }

    @Test
    void aJobThatAsksForMoreThanThereIsIsNamed() {
        assertThatThrownBy(() -> run(PublishedSettings.of("tiresias", 2, 4), job("bert-0", 1, 2), job("bert-1", 1, 9)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("job bert-1 never ends: it asks for 9 of 8 GPUs");
    }

    @Test
    void aRequestTakesAGpuFromTrainingWhereNothingElseIsLeft() {
        PublishedRun run =
                run(PublishedSettings.of("tiresias", 2, 2), job("a", 1, 2), job("b", 2, 2), request("now", 90, 5));

        // The first job loses it and goes on; the second waits while the replica is kept, for not all then fit.
        assertThat(run.requests().get(0).started()).isEqualTo(90);
        assertThat(run.trainings()).extracting(TrainingRun::restarts).containsExactly(1, 1);
    }
}
