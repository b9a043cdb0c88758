package io.lendstream.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterViewTest {
    @Test
    void jobsThatAreSeenInAnotherWayLeaveTheRestAsItIs() {
        LoanBundle node = new LoanBundle("node n0", List.of(Views.gpu(0, 0), Views.gpu(0, 1)));
        ClusterView view = Views.cluster(List.of(Views.job("a", 1), Views.job("b", 1)), 2, 1)
                .withBundles(List.of(node));
        JobView other = Views.job("b", 3);

        ClusterView seen = view.with(job -> job.job().equals(other.job()) ? other : job);

        assertThat(seen.bundles()).containsExactly(node);
        assertThat(seen.gpuCount()).isEqualTo(3);
        assertThat(seen.jobs()).extracting(JobView::requestedGpus).containsExactly(1, 3);
    }
}
