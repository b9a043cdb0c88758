package io.lendstream.core.policy.published;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Pace;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.Views;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PolluxTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final List<GpuState> GPUS = IntStream.range(0, 8)
            .mapToObj(i -> GpuState.free(gpu(i), new NodeId("node-" + i / 4), Pool.TRAINING, NOW, 0))
            .toList();
    private final Policy policy = Policies.parse("pollux");

    @Test
    void twoOldJobsGetANodeEachAndKeepTheGpusTheyHaveThere() {
        Plan plan = policy.plan(cluster(Set.of(), job("a", 0, 1), job("b", 4, 5)));

        assertThat(plan.targets().get(new JobId("a"))).hasSize(4).contains(gpu(0), gpu(1));
        assertThat(plan.targets().get(new JobId("b"))).hasSize(4).contains(gpu(4), gpu(5));
        assertThat(plan.reasons().get(new JobId("a")).text()).startsWith("a grows from 2 to 4 GPUs: ");
    }

    @Test
    void aJobThatIsBeingChangedKeepsItsGpus() {
        JobView fixed = job("fixed", 0, 1, 2);

        Plan plan = policy.plan(cluster(Set.of(fixed.job()), fixed, job("other", 4, 5)));

        assertThat(plan.targets()).containsOnlyKeys(new JobId("other"));
        assertThat(plan.targets().get(new JobId("other"))).doesNotContainAnyElementsOf(fixed.gpus());
    }

    @Test
    void noGpuIsGivenTwiceAndEqualViewsGiveEqualPlans() {
        ClusterView cluster = cluster(Set.of(), job("a", 0, 1, 4), job("b", 5), job("c"), job("d", 7, 2));

        Plan plan = policy.plan(cluster);

        List<GpuId> given =
                plan.targets().values().stream().flatMap(List::stream).toList();
        assertThat(new HashSet<>(given)).hasSameSizeAs(given);
        assertThat(policy.plan(cluster)).isEqualTo(plan);
    }

    private static ClusterView cluster(Set<JobId> fixed, JobView... jobs) {
        return new ClusterView(NOW, List.of(jobs), GPUS, fixed, 2, 4, 0);
    }

    private static GpuId gpu(int number) {
        return new GpuId("gpu-" + number);
    }

    /** An old job, which gets on a fifth slower across nodes. */
    private static JobView job(String name, int... gpus) {
        return new DescribedJob(
                new JobId(name),
                NOW.minus(Duration.ofDays(1)),
                new TrainingJob.Scaling(1, 1, 8, true),
                IntStream.of(gpus).mapToObj(PolluxTest::gpu).toList(),
                new DescribedJob.Usage(8, 1, 1000 * gpus.length),
                Optional.of((nodes, count) -> Math.pow(count, 0.9) * (nodes > 1 ? 0.8 : 1)),
                new UnknownPace(),
                Optional.empty(),
                Views.COSTS);
    }

    private record UnknownPace() implements Pace {
        @Override
        public double iterationSeconds(int gpus) {
            return 1;
        }

        @Override
        public int iterationSamples(int gpus) {
            return 1;
        }

        @Override
        public double remainingIterations() {
            return 1;
        }
    }
}
