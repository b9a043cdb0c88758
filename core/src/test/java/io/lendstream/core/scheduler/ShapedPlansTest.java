package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.policy.placement.FreeGpusByNode;
import io.lendstream.core.policy.placement.FreshPlacement;
import io.lendstream.core.state.JobState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GPUs that a policy counts on for a job that cannot have them go to others. */
class ShapedPlansTest {
    private static final JobShape ON_ONE_NODE = JobShape.ANY.within(TopologyLevel.NODE, true);

    /** Gives each job, in order of submission, all GPUs that it can use by their number. */
    private static final class FirstComeFirstServed implements ReclaimsByLeastLoss {
        @Override
        public PolicyInfo info() {
            return new PolicyInfo("first", "gives the first job all that it can use", true, false, false);
        }

        @Override
        public Duration planEvery() {
            return Duration.ofMinutes(1);
        }

        @Override
        public Plan plan(ClusterView cluster) {
            List<JobView> jobs = cluster.open();
            int[] sizes = new int[jobs.size()];
            int room = cluster.capacity();
            for (int i = 0; i < sizes.length; i++) {
                JobView job = jobs.get(i);
                int size = job.fit(Math.min(room, job.most()));
                sizes[i] = size < job.least() ? 0 : size;
                room -= sizes[i];
            }
            return FreshPlacement.place(
                    cluster,
                    jobs,
                    sizes,
                    FreeGpusByNode.Fit.TIGHTEST,
                    0,
                    (job, size) -> new PlanReason("%s gets %d".formatted(job.job(), size), Map.of()));
        }

        @Override
        public String spec() {
            return "first";
        }
    }

    /** Some minutes, in which jobs report that they run. */
    private static void minutes(Scenario story, int minutes) {
        for (int i = 0; i < minutes; i++) {
            story.after(ofMinutes(1)).settled();
            for (JobState job : story.state().jobs().stream().toList()) {
                if (job.gpus() > 0) {
                    story.progress(job.spec().job().value(), JobPhase.RUNNING).settled();
                }
            }
        }
    }

    static List<JobShape> shapes() {
        return List.of(JobShape.ANY, ON_ONE_NODE);
    }

    /** Job b has 2 of the 4 GPUs of a node. The policy counts on 3 for job a, which has room for 2. */
    @ParameterizedTest
    @MethodSource("shapes")
    void anotherJobGetsAndKeepsTheGpuThatAGrowingJobCannotUse(JobShape shape) {
        Scheduler scheduler = new Scheduler(new FirstComeFirstServed(), SchedulerSettings.DEFAULTS);
        Scenario story = new Scenario(scheduler)
                .node("train-a", Pool.TRAINING, 4)
                .node("train-b", Pool.TRAINING, 1)
                .rigidJob("b", 2);
        minutes(story, 2);
        assertThat(story.job("b").gpus()).isEqualTo(2);

        story.job("a", 4, ON_ONE_NODE).tell(story.jobRecord("w", 1, false).shaped(shape));
        minutes(story, 2);
        int decisions = story.decisions().size();
        minutes(story, 4);

        assertThat(story.job("a").gpus()).isEqualTo(2);
        assertThat(story.job("w").gpus()).isEqualTo(1);
        assertThat(story.decisions()).as("no job is stopped and started again").hasSize(decisions);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> scheduler);
        story.log().forEach(checker::take);
        assertThat(checker.verdict(story.decisions(), story.leases()).violations())
                .isEmpty();
    }

    /** The largest node first leaves 2 GPUs that no other node has. */
    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "afs", "tiresias"})
    void wholeNodesOfSeveralSizesAddUpToTheSize(String policy) {
        Scenario story = Scenario.of(policy)
                .node("train-a", Pool.TRAINING, 4)
                .node("train-b", Pool.TRAINING, 3)
                .node("train-c", Pool.TRAINING, 3)
                .job("a", 8, new JobShape(List.of(6), 1, true, Optional.empty()));

        minutes(story, 4);

        assertThat(story.job("a").gpus()).isEqualTo(6);
        assertThat(story.verdict().violations()).isEmpty();
    }
}
