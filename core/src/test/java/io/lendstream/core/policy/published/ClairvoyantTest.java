package io.lendstream.core.policy.published;

import static io.lendstream.core.policy.Views.cluster;
import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.pace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClairvoyantTest {
    private final Policy clairvoyant = Policies.parse("clairvoyant");

    private static JobView runs(String name, double seconds, double exponent, GpuId... held) {
        return job(name, 1, List.of(held), pace(seconds, exponent), Optional.empty());
    }

    @Test
    void theJobThatIsOverSoonerGoesFirst() {
        Plan plan = clairvoyant.plan(cluster(List.of(runs("long", 5000, 1), runs("short", 1000, 1)), 4));

        assertThat(plan.targets().get(job("short"))).hasSize(4);
        assertThat(plan.targets().get(job("long"))).isEmpty();
    }

    /**
     * Speedups are roots, so weights are 1 for the long job and {@code (2^2 - 1^2)^(1/2)} for the short one: 3 and 1
     * GPUs make 1.73 x 1.73 + 1 = 4; 4 and none 3.46, 2 and 2 make 3.86.
     */
    @Test
    void jobsThatScaleBadlyShareGpusAndTheShortOneGetsMore() {
        Plan plan = clairvoyant.plan(cluster(List.of(runs("long", 5000, .5), runs("short", 1000, .5)), 4));

        assertThat(plan.targets().get(job("short"))).hasSize(3);
        assertThat(plan.targets().get(job("long"))).hasSize(1);
    }

    @Test
    void aJobThatNeverRanMayGetAllGpusAtOnce() {
        Plan plan = clairvoyant.plan(cluster(List.of(runs("only", 1000, 1)), 4, 4));

        assertThat(plan.targets().get(job("only"))).hasSize(8);
    }

    /**
     * Growing from 1 to 2 pauses it for 3 + 27 / 2 = 16 s. With 20 s to go on one GPU, that is more than it could save.
     */
    @Test
    void aJobThatIsAlmostDoneIsLeftAlone() {
        Plan almostDone = clairvoyant.plan(cluster(List.of(runs("a", 20, 1, gpu(0, 0))), 2));
        Plan justBegun = clairvoyant.plan(cluster(List.of(runs("a", 2000, 1, gpu(0, 0))), 2));

        assertThat(almostDone.targets().get(job("a"))).containsExactly(gpu(0, 0));
        assertThat(justBegun.targets().get(job("a"))).containsExactly(gpu(0, 0), gpu(0, 1));
    }

    @Test
    void refusesAScalingAtWhichWeightsMeanNothing() {
        assertThatThrownBy(() -> Policies.parse("clairvoyant:scaling=1"))
                .hasMessage("scaling of policy clairvoyant must be at least 0 and at most 0.95, but was 1.0");
    }
}
