package io.lendstream.core.policy.ats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.SpeedOnKind;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.ModelGoodput;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.policy.WrappedJob;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class FairSpeedsTest {
    private static final JobState STATE = JobState.of(Scenario.of("deepboot").jobRecord("a", 8, true), 1);
    private static final double LEFT = 0.5;

    /** A job with a goodput of its own. */
    private record With(JobView whole, Goodput own) implements WrappedJob {
        @Override
        public Optional<Goodput> goodput() {
            return Optional.of(own);
        }

        @Override
        public int largestRun() {
            return 4;
        }
    }

    @Test
    void aRatioOfGoodputGivesTheValuesOfTheGoodputItself() {
        for (int gpusPerNode : new int[] {4, 8}) {
            FairSpeeds speeds = new FairSpeeds(List.of(kind(4), kind(gpusPerNode)), 2);
            FairSpeeds.OfJob inTurn = speeds.of(job(1));
            double[] slow = inTurn.values(job(1), 0, LEFT);

            assertThat(slow).hasSize(9).isEqualTo(speeds.of(job(1)).values(job(1), 0, LEFT));
            assertThat(inTurn.values(job(3), 1, LEFT))
                    .containsExactly(speeds.of(job(1)).values(job(3), 1, LEFT), Offset.offset(1e-12));
        }
    }

    @Test
    void aGoodputWithoutARatioIsWorkedOutAgain() {
        FairSpeeds speeds = new FairSpeeds(List.of(kind(4), kind(4)), 2);
        FairSpeeds.OfJob inTurn = speeds.of(job(1));
        double[] slow = inTurn.values(job(1), 0, LEFT);
        JobView other = new With(job(1), (nodes, gpus) -> gpus * gpus);

        double[] values = inTurn.values(other, 1, LEFT);

        assertThat(values[8] / values[2]).isEqualTo(16, Offset.offset(1e-9));
        assertThat(inTurn.values(job(1), 0, LEFT)).isEqualTo(slow);
    }

    private static JobView job(double factor) {
        JobView plain = new ScheduledJob(STATE, STATE.spec().submittedAt(), 4, true, ScheduledJob.Kinds.ALIKE);
        return new With(plain, new ModelGoodput(new SpeedOnKind(STATE.goodput().ofProfile(), factor)));
    }

    /** 16 GPUs of a kind. */
    private static ClusterView kind(int gpusPerNode) {
        List<GpuState> gpus = IntStream.range(0, 16)
                .mapToObj(i -> GpuState.free(
                        new GpuId("gpu-" + i),
                        new NodeId("node-" + i / gpusPerNode),
                        Pool.TRAINING,
                        STATE.spec().submittedAt(),
                        0))
                .toList();
        return new ClusterView(STATE.spec().submittedAt(), List.of(), gpus, Set.of(), 16 / gpusPerNode, gpusPerNode, 0);
    }
}
