package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Plan;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The part of a plan that quotas allow, where the plan exchanges GPUs between jobs. */
class QuotaPlanTest {
    private final ScriptedPolicy policy = new ScriptedPolicy();
    private final Scenario story =
            new Scenario(new Scheduler(policy, SchedulerSettings.DEFAULTS)).node("train", Pool.TRAINING, 5);

    /** Makes a plan with these GPUs of the node, and carries it out. The job x keeps what it has. */
    private void planned(Map<String, List<Integer>> targets) {
        Map<JobId, List<GpuId>> gpus = new TreeMap<>();
        story.state()
                .jobs()
                .get(new JobId("x"))
                .ifPresent(job -> gpus.put(job.spec().job(), job.allocation().gpus()));
        targets.forEach((job, numbers) -> gpus.put(new JobId(job), gpus(numbers.toArray(Integer[]::new))));
        policy.propose(new Plan(gpus, Map.of()));
        story.after(ofSeconds(61)).settled();
    }

    private static List<GpuId> gpus(Integer... numbers) {
        return Arrays.stream(numbers)
                .map(number -> new GpuId("train-g" + number))
                .toList();
    }

    private List<GpuId> gpusOf(String job) {
        return story.job(job).allocation().gpus();
    }

    @Test
    void gpusThatARefusedJobKeepsAreNotThereForOthers() {
        Optional<String> cohort = Optional.of("all");
        story.queue("team-b", cohort, KindQuota.of(Optional.empty(), 1))
                .queue("team-x", cohort, KindQuota.of(Optional.empty(), 1))
                .rigidJob("b", 2, "team-b");
        planned(Map.of("b", List.of(0, 1)));
        // Another queue uses what b has borrowed: b keeps its GPUs, but gets no others.
        story.node("more", Pool.TRAINING, 1).rigidJob("x", 1, "team-x").job("c", 2);
        assertThat(gpusOf("x")).containsExactly(new GpuId("more-g0"));

        planned(Map.of("b", List.of(2, 3), "c", List.of(0, 4)));

        assertThat(gpusOf("b")).isEqualTo(gpus(0, 1));
        assertThat(gpusOf("c")).isEqualTo(gpus(4));
        assertThat(story.decisions().stream()
                        .filter(decision -> decision.reason().is(ReasonCode.QUOTA))
                        .map(Decision::reason)
                        .toList())
                .last()
                .satisfies(reason -> assertThat(reason.text()).startsWith("3 more GPUs for b, c are refused"));
    }

    @Test
    void aJobAboveTheLimitOfItsQueueShrinksAlsoWhereThePlanExchangesItsGpus() {
        story.queue("team-b", 3).job("b", 4, "team-b");
        planned(Map.of("b", List.of(0, 1, 2)));
        story.queue("team-b", 1);

        planned(Map.of("b", List.of(0, 3)));

        assertThat(gpusOf("b")).isEqualTo(gpus(0));
    }
}
