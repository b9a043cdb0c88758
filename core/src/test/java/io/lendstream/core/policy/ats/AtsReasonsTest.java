package io.lendstream.core.policy.ats;

import static io.lendstream.core.policy.Views.NOW;
import static io.lendstream.core.policy.Views.gpu;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Views;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The sentences of adaptive task scaling, and the rule that a job may at most double its GPUs. */
class AtsReasonsTest {
    private static final Goodput LINEAR = (nodes, replicas) -> replicas;

    /** An elastic job of 1 to 8 GPUs, submitted a day ago. */
    private static JobView job(String name, int largestRun, GpuId... held) {
        return new DescribedJob(
                new JobId(name),
                NOW.minusSeconds(86_400),
                new TrainingJob.Scaling(1, 1, 8, true),
                List.of(held),
                new DescribedJob.Usage(largestRun, 0, 0),
                Optional.of(LINEAR),
                Views.pace(100, 1),
                Optional.empty(),
                Views.COSTS);
    }

    private static PlanReason reason(ClusterView view, String job) {
        return Objects.requireNonNull(new Ats(view).plan().reasons().get(new JobId(job)));
    }

    private static Alternative last(ClusterView view, String job) {
        List<Alternative> sizes = new Ats(view).sizes(new JobId(job));
        return sizes.get(sizes.size() - 1);
    }

    @Test
    void aJobThatGrowsIsNamedWithItsSpeedBeforeAndAfter() {
        JobView tooLarge = new DescribedJob(
                new JobId("gpt"),
                NOW.minusSeconds(86_400),
                new TrainingJob.Scaling(16, 16, 16, false),
                List.of(),
                DescribedJob.Usage.NONE,
                Optional.of(LINEAR),
                Views.pace(100, 1),
                Optional.empty(),
                Views.COSTS);
        ClusterView view = Views.cluster(List.of(job("bert", 8, gpu(0, 0), gpu(0, 1)), tooLarge), 8);

        PlanReason reason = reason(view, "bert");

        assertThat(reason.text())
                .isEqualTo("bert grows from 2 to 8 GPUs: it will run at 200 % of its fair-share speed instead of 50 %"
                        + " (fair share: 4 of 8 GPUs, 2 jobs)");
        assertThat(reason.numbers())
                .containsEntry("speedBefore", 0.5)
                .containsEntry("speedAfter", 2.0)
                .containsEntry("fairShareGpus", 4.0)
                .containsEntry("gpus", 8.0)
                .containsEntry("jobs", 2.0);
    }

    @Test
    void aJobWhoseGpuCannotBeUsedLosesIt() {
        ClusterView view = Views.cluster(List.of(job("bert", 1, gpu(7, 0))), 1);

        assertThat(reason(view, "bert").text())
                .startsWith("bert loses its GPU and goes on with 1 GPU: it will run at 100 % of its fair-share speed");
    }

    @Test
    void theDoublingRuleIsNamedWhereItLimitsAJob() {
        ClusterView view = Views.cluster(List.of(job("bert-1", 1, gpu(0, 0))), 8);

        assertThat(reason(view, "bert-1").text())
                .isEqualTo("bert-1 grows from 1 to 2 GPUs: it will run at 25 % of its fair-share speed instead of 13 %"
                        + " (fair share: 8 of 8 GPUs, 1 job);"
                        + " bert-1 may use at most 2 GPUs now: a job may at most double the GPUs it has run on (1)");
        Alternative forbidden = last(view, "bert-1");
        assertThat(forbidden.size()).isEqualTo(3);
        assertThat(forbidden.chosen()).isFalse();
        assertThat(forbidden.why())
                .isEqualTo("bert-1 may use at most 2 GPUs now: a job may at most double the GPUs it has run on (1)");
        assertThat(forbidden.score()).isGreaterThan(0.25);
    }

    @Test
    void aJobThatHasNotRunYetStartsOnOneGpuByTheSameRule() {
        ClusterView view = Views.cluster(List.of(job("bert-1", 0)), 8);

        assertThat(reason(view, "bert-1").text())
                .isEqualTo("bert-1 starts on 1 GPU: it will run at 13 % of its fair-share speed"
                        + " (fair share: 8 of 8 GPUs, 1 job);"
                        + " bert-1 may use at most 1 GPU now: it has not run yet,"
                        + " and a job may at most double the GPUs it has run on");
        assertThat(last(view, "bert-1").size()).isEqualTo(2);
    }

    @Test
    void theRuleIsNotNamedWhereAnotherLimitHoldsFirst() {
        JobView largest = job("bert", 4, gpu(0, 0), gpu(0, 1), gpu(0, 2), gpu(0, 3));
        ClusterView itsMaximum = Views.cluster(List.of(largest), 8);
        assertThat(new Ats(itsMaximum).limit(largest)).isEmpty();
        assertThat(last(itsMaximum, "bert").chosen()).isTrue();

        JobView small = job("bert", 2, gpu(0, 0), gpu(0, 1));
        ClusterView noMoreGpus = Views.cluster(List.of(small), 3);
        assertThat(reason(noMoreGpus, "bert").text()).doesNotContain("double");
        assertThat(last(noMoreGpus, "bert").size()).isEqualTo(3);
    }
}
