package io.lendstream.simulator.published;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.WorldResults;
import io.lendstream.simulator.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What must hold of every run in published timing, flaws and all, on random small clusters.
 * {@code -Dlendstream.cases=20000} tries more of them; what fails names its seed.
 */
class PublishedInvariantsTest {
    private static final int CASES = Integer.getInteger("lendstream.cases", 160);

    /** Seconds that no run takes. */
    private static final int LONGEST = 30 * 86_400;

    @TempDir
    private static Path directory;

    static Stream<String> policies() {
        return Stream.concat(Policies.all().stream().map(Policy::spec), Stream.of("deepboot"));
    }

    @ParameterizedTest
    @MethodSource("policies")
    void everyInvariantHoldsWhateverTheCluster(String policy) throws IOException {
        Path traces = TinyTraces.in(directory);
        int each = CASES / (int) policies().count();
        for (int i = 0; i < each; i++) {
            RandomRun drawn = RandomRun.of(policy, 1_000_003L * policy.hashCode() + i);
            try {
                boolean ends = true;
                for (RandomRun.Part part : drawn.parts()) {
                    ends &= new Watch(part, traces).ends();
                }
                if (ends) {
                    resultsAddUp(drawn, traces);
                }
            } catch (AssertionError | RuntimeException broken) {
                throw new AssertionError("broken with %s".formatted(drawn), broken);
            }
        }
    }

    /** A run whose invariants are looked at after every event. */
    private static final class Watch {
        private final RandomRun.Part part;
        private final PublishedSettings settings;
        private final PublishedSimulator simulator;
        private final Map<TrainingRun, Long> had = new HashMap<>();

        Watch(RandomRun.Part part, Path traces) {
            this.part = part;
            this.settings = part.settings();
            this.simulator = new PublishedSimulator(part.workload(), traces, settings, Workload.EPOCH);
        }

        /** Whether it ends; if not, an error names it, and sleeping replicas keep training from their nodes. */
        boolean ends() {
            while (!simulator.isOver()) {
                int before = simulator.clock();
                Map<TrainingRun, Integer> held = new HashMap<>();
                trainings().forEach(run -> held.put(run, run.isDone() ? 0 : run.gpus()));
                try {
                    simulator.step();
                } catch (IllegalArgumentException endless) {
                    assertThat(endless).hasMessageContaining("never ends");
                    assertThat(settings.halves() && simulator.pods().all().anyMatch(Pod::isSleeping))
                            .as(endless.getMessage())
                            .isTrue();
                    return false;
                }
                assertThat(simulator.clock())
                        .as("runs on for ever")
                        .isGreaterThan(before)
                        .isLessThan(LONGEST);
                for (TrainingRun run : trainings()) {
                    int until = run.isDone() ? run.completed() : simulator.clock();
                    had.merge(run, (long) held.get(run) * Math.max(0, until - before), Long::sum);
                    checkSize(run, held.get(run));
                }
                noNodeHasMoreThanThereIs();
            }
            nothingIsLost();
            return true;
        }

        private List<TrainingRun> trainings() {
            return simulator.outcome().trainings();
        }

        /** Between plans jobs only lose GPUs, to requests; and a plan gives what the job may have. */
        private void checkSize(TrainingRun run, int before) {
            if (run.isDone()) {
                return;
            }
            boolean planned = simulator.clock() % 60 == 0;
            int most = planned ? most(run) : before;
            assertThat(run.gpus()).as("%s at %d", run.row(), simulator.clock()).isBetween(0, Math.max(before, most));
            boolean arrived = run.row().second() <= simulator.clock();
            assertThat(arrived || run.gpus() == 0)
                    .as("%s at %d", run.row(), simulator.clock())
                    .isTrue();
            boolean rigid = settings.policy().info().name().equals("tiresias");
            if (rigid && part.workload().inference().rows().isEmpty()) {
                assertThat(run.gpus())
                        .as("%s at %d", run.row(), simulator.clock())
                        .isIn(0, run.row().replicas());
            }
        }

        private int most(TrainingRun run) {
            return settings.policy().info().name().equals("tiresias")
                    ? run.row().replicas()
                    : Port.of(settings.policy()).largest(run.row(), run.trace().application(), settings.gpus());
        }

        private void noNodeHasMoreThanThereIs() {
            int[] used = new int[settings.nodes()];
            trainings().stream().filter(run -> !run.isDone()).forEach(run -> {
                for (int node : run.nodes()) {
                    used[node]++;
                }
            });
            simulator.pods().all().filter(pod -> pod.node() != Pod.NOWHERE).forEach(pod -> used[pod.node()]++);
            assertThat(used).as("GPUs in use by node at %d", simulator.clock()).satisfies(nodes -> {
                for (int gpus : nodes) {
                    assertThat(gpus).isBetween(0, settings.gpusPerNode());
                }
            });
        }

        private void nothingIsLost() {
            PublishedRun outcome = simulator.outcome();
            long jobs = part.workload().training().rows().size();
            assertThat(outcome.trainings()).hasSize((int) jobs);
            assertThat(outcome.requests()).hasSize(part.workload().rows().size() - (int) jobs);
            for (TrainingRun run : outcome.trainings()) {
                assertThat(run.started())
                        .as("%s", run.row())
                        .isGreaterThanOrEqualTo(run.row().second());
                assertThat(run.completed()).as("%s", run.row()).isGreaterThan(run.started());
                assertThat(run.shareDone()).as("%s", run.row()).isEqualTo(1);
                assertThat(run.attainedGpuSeconds()).as("%s", run.row()).isEqualTo(had.get(run));
                assertThat(run.pausedGpuSeconds()).as("%s", run.row()).isBetween(0L, run.attainedGpuSeconds());
            }
            for (RequestBatchRun request : outcome.requests()) {
                int coldStart = request.isCold() ? request.coldStart() : 0;
                assertThat(request.started())
                        .as("%s", request.row())
                        .isGreaterThanOrEqualTo(request.row().second());
                assertThat(request.completed())
                        .as("%s", request.row())
                        .isEqualTo(request.started() + coldStart + request.duration());
                assertThat(settings.keepsWarm() || request.isCold())
                        .as("%s", request.row())
                        .isTrue();
            }
            long all = had.values().stream().mapToLong(Long::longValue).sum();
            assertThat(outcome.computingGpuSeconds()).isBetween(0.0, (double) all);
            assertThat(outcome.secondHalfGpuSeconds()).isBetween(0.0, all * (1 + 1e-9));
        }
    }

    /** Results in our form have every job and request, no more GPU time than there is, and are the same again. */
    private static void resultsAddUp(RandomRun drawn, Path traces) {
        PublishedReplay replay =
                new PublishedReplay(drawn.policy(), drawn.lending(), drawn.trainingNodes(), drawn.settings());
        WorldResults results = replay.run(drawn.workload(), traces).results();
        int jobs = drawn.workload().training().rows().size();
        assertThat(results.jobs()).hasSize(jobs).allMatch(job -> job.completed().isPresent());
        assertThat(results.requests()).hasSize(drawn.workload().rows().size() - jobs);
        double held = results.jobs().stream().mapToDouble(JobResult::gpuSeconds).sum();
        double all = (double) drawn.settings().gpus()
                * (results.now().getEpochSecond() - results.start().getEpochSecond());
        assertThat(held).isBetween(0.0, all);
        assertThat(results.lentGpuSeconds()).isBetween(0.0, held * (1 + 1e-9));
        assertThat(results.rescalingGpuSeconds()).isBetween(0.0, held);
        assertThat(results.gpuUtilization()).isBetween(0.0, 1 + 1e-9);

        WorldResults again = replay.run(
                        RandomRun.of(drawn.policy(), drawn.seed()).workload(), traces)
                .results();
        assertThat(again.jobs()).isEqualTo(results.jobs());
        assertThat(again.requests()).isEqualTo(results.requests());
        assertThat(again.computingGpuSeconds()).isEqualTo(results.computingGpuSeconds());
    }
}
