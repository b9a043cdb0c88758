package io.lendstream.core.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.NodeId;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ShapedJobTest {
    private static final NodeId A = new NodeId("a");
    private static final NodeId B = new NodeId("b");
    private static final NodeId C = new NodeId("c");

    /** Nodes of four GPUs; a and b are in one rack. */
    private static final NodeLayout LAYOUT = new NodeLayout() {
        @Override
        public int gpusOf(NodeId node) {
            return 4;
        }

        @Override
        public String domain(NodeId node, TopologyLevel level) {
            return level == TopologyLevel.RACK && !node.equals(C) ? "r1" : "node " + node;
        }
    };

    private static JobSite site(JobShape shape) {
        return JobSite.of(shape, LAYOUT);
    }

    /** A job for 1 to 8 GPUs. */
    private static ShapedJob job(JobShape shape, Map<NodeId, Integer> usable) {
        JobSite site = site(shape);
        boolean limited = site.wholeNodes() || site.needsDomain();
        return new ShapedJob(
                Views.job("a", 3), shape, site, limited ? Optional.of(site.sizes(usable)) : Optional.empty());
    }

    @Test
    void itsNumbersAreNumbersThatItMayHave() {
        ShapedJob job = job(JobShape.multiples(4), Map.of());

        assertThat(job.minGpus()).isEqualTo(4);
        assertThat(job.maxGpus()).isEqualTo(8);
        assertThat(job.requestedGpus()).as("3 is less than any").isEqualTo(4);
        assertThat(job.least()).isEqualTo(4);
        assertThat(job.next(4)).isEqualTo(8);
        assertThat(job.next(8)).isEqualTo(ShapedJob.NO_SIZE);
        assertThat(job.fit(7)).isEqualTo(4);
        assertThat(job.allows(6)).isFalse();
        assertThat(job.site()).isEmpty();
    }

    @Test
    void wholeNodesAreSumsOfNodesThatAreFree() {
        JobSite site = site(JobShape.nodes());

        assertThat(site.sizes(Map.of(A, 4, B, 3, C, 4)).stream()).containsExactly(0, 4, 8);
        assertThat(site.suits(Map.of(A, 4, B, 4))).isTrue();
        assertThat(site.suits(Map.of(A, 4, B, 3))).isFalse();
        assertThat(job(JobShape.nodes(), Map.of(A, 3)).hasSize()).isFalse();
    }

    @Test
    void aRequiredDomainLimitsTheSize() {
        JobShape rack = JobShape.ANY.within(TopologyLevel.RACK, true);

        assertThat(site(rack).sizes(Map.of(A, 2, B, 1, C, 4)).stream()).containsExactly(0, 1, 2, 3, 4);
        assertThat(site(rack).suits(Map.of(A, 2, B, 1))).isTrue();
        assertThat(site(rack).suits(Map.of(A, 2, C, 1))).isFalse();
        assertThat(job(rack, Map.of(A, 2, B, 1)).maxGpus()).isEqualTo(3);
    }

    @Test
    void aPreferredDomainDoesNot() {
        JobShape rack = JobShape.ANY.within(TopologyLevel.RACK, false);

        assertThat(site(rack).suits(Map.of(A, 2, C, 1))).isTrue();
        assertThat(job(rack, Map.of(A, 2)).maxGpus()).isEqualTo(8);
        assertThat(job(rack, Map.of(A, 2)).site()).isPresent();
    }

    /** A queue whose changing jobs have more than its share leaves its other jobs less than nothing. */
    @Test
    void nothingFitsInLessThanNoGpus() {
        JobShape rack = JobShape.ANY.within(TopologyLevel.RACK, true);

        assertThat(job(rack, Map.of(A, 2, B, 1)).fit(-2)).isZero();
        assertThat(job(JobShape.multiples(4), Map.of()).fit(-2)).isZero();
    }

    @Test
    void aJobWithoutASizeAsksForMoreThanThereIs() {
        ShapedJob job = job(JobShape.multiples(9), Map.of());

        assertThat(job.hasSize()).isFalse();
        assertThat(job.least()).isEqualTo(ShapedJob.NO_SIZE);
        assertThat(job.requestedGpus()).isEqualTo(ShapedJob.NO_SIZE);
        assertThat(job.fit(8)).isZero();
    }

    @Test
    void aBoundLeavesTheSizesBelow() {
        ShapedJob job = job(JobShape.multiples(2), Map.of());

        assertThat(job.upTo(5).maxGpus()).isEqualTo(4);
        assertThat(job.upTo(5).next(4)).isEqualTo(ShapedJob.NO_SIZE);
        assertThat(job.upTo(5).allows(6)).isFalse();
        assertThat(job.upTo(0).hasSize()).isFalse();
    }
}
