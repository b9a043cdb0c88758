package io.lendstream.core.policy.ats;

import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.lendable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.LoanBundle;
import io.lendstream.core.policy.NodeLayout;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.policy.Views;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The price of a node: what its jobs lose, for each GPU that inference gets. */
class BundleLossTest {
    private static final LoanBundle ONE =
            new LoanBundle("node n1", List.of(gpu(1, 0), gpu(1, 1), gpu(1, 2), gpu(1, 3)));
    private static final LoanBundle TWO = new LoanBundle("node n2", List.of(gpu(2, 0), gpu(2, 1)));

    private static ClusterView view(JobView... jobs) {
        return lendable(List.of(jobs), 1, 4, 2).withBundles(List.of(ONE, TWO));
    }

    @Test
    void theNodeWithTheLeastLossForEachGpuIsTaken() {
        // n1: 3 GPUs of speed lost, 4 GPUs for inference. n2: 2 GPUs of speed lost, 2 GPUs for inference.
        ClusterView view = view(
                borrower("a", true, gpu(0, 0), gpu(1, 0), gpu(1, 1), gpu(1, 2)),
                borrower("b", true, gpu(2, 0), gpu(2, 1)));

        assertThat(new Ats(view).victims(1)).containsExactly(gpu(1, 0), gpu(1, 1), gpu(1, 2));
        assertThat(new Ats(view).victims(4)).hasSize(3);
        assertThat(new Ats(view).victims(5)).containsExactly(gpu(1, 0), gpu(1, 1), gpu(1, 2), gpu(2, 0), gpu(2, 1));
    }

    @Test
    void allJobsOfANodeCount() {
        // n1: two jobs lose 3 GPUs of speed, for 4. n2: one job loses 1, for 2.
        ClusterView view = view(
                borrower("a", true, gpu(0, 0), gpu(1, 0)),
                borrower("b", false, gpu(1, 1), gpu(1, 2)),
                borrower("c", true, gpu(2, 0)));

        assertThat(new Ats(view).victims(1)).containsExactly(gpu(2, 0));
    }

    /** n1: the job cannot go on with the GPU that is left, so it loses 3, for 4. n2: one job loses 1, for 2. */
    @Test
    void aJobLosesWhatItsShapeDoesNotAllowToo() {
        JobView plain = borrower("a", true, gpu(0, 0), gpu(1, 0), gpu(1, 1));
        JobView other = borrower("b", true, gpu(2, 0));
        JobShape threes = JobShape.multiples(3);
        JobView shaped = new ShapedJob(plain, threes, JobSite.of(threes, ALIKE), Optional.empty());

        assertThat(new Ats(view(plain, other)).victims(1)).containsExactly(gpu(1, 0), gpu(1, 1));
        assertThat(new Ats(view(shaped, other)).victims(1)).containsExactly(gpu(2, 0));
    }

    private static final NodeLayout ALIKE = new NodeLayout() {
        @Override
        public int gpusOf(NodeId node) {
            return 4;
        }

        @Override
        public String domain(NodeId node, TopologyLevel level) {
            return "";
        }
    };

    @Test
    void theAlternativesNameTheWholeNode() {
        ClusterView view =
                view(borrower("a", true, gpu(0, 0), gpu(1, 0), gpu(1, 1)), borrower("b", true, gpu(2, 0), gpu(2, 1)));

        List<Alternative> losses = new Ats(view).losses(1);

        assertThat(losses).extracting(Alternative::gpus).containsExactly(ONE.gpus(), TWO.gpus());
        assertThat(losses).extracting(Alternative::chosen).containsExactly(true, false);
        assertThat(losses.get(0).size()).isEqualTo(1);
        assertThat(losses.get(1).score()).isCloseTo(2 * losses.get(0).score(), within(1e-9));
    }

    @Test
    void aLoanOutsideBundlesIsWeighedAlone() {
        ClusterView view = lendable(
                        List.of(
                                borrower("a", true, gpu(0, 0), gpu(1, 0), gpu(1, 1), gpu(1, 2), gpu(1, 3)),
                                borrower("b", true, gpu(2, 0), gpu(2, 1))),
                        1,
                        4,
                        2)
                .withBundles(List.of(ONE));

        List<Alternative> losses = new Ats(view).losses(1);

        assertThat(losses).hasSize(3);
        assertThat(losses).extracting(Alternative::gpus).contains(ONE.gpus(), List.of(gpu(2, 0)), List.of(gpu(2, 1)));
    }

    /** A job that is as fast as it has GPUs, on any nodes. */
    private static JobView borrower(String name, boolean elastic, GpuId... gpus) {
        return new DescribedJob(
                job(name),
                Views.NOW.minusSeconds(600),
                new TrainingJob.Scaling(Math.max(1, gpus.length), 1, 20, elastic),
                List.of(gpus),
                new DescribedJob.Usage(gpus.length, 0, 0),
                Optional.of((nodes, replicas) -> replicas),
                Views.pace(1, 1),
                Optional.empty(),
                Views.COSTS);
    }
}
