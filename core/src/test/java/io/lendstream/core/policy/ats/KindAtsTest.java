package io.lendstream.core.policy.ats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KindAtsTest {
    private static final KindId SLOW = new KindId("a-slow");
    private static final KindId FAST = new KindId("b-fast");

    /** Just submitted, the speedup of a job does not count yet. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 600})
    void aJobStartsOnTheFasterKindHoweverYoungItIs(int seconds) {
        TrainingJob job = Scenario.of("deepboot")
                .jobRecord("a", 8, true)
                .onKinds(new KindNeeds(
                        List.of(),
                        Optional.of(SLOW),
                        Optional.empty(),
                        List.of(KindTraits.of(FAST, new KindRatio(6, 0.2)))));
        Instant now = job.submittedAt().plus(Duration.ofSeconds(seconds));
        SortedMap<KindId, ClusterView> views = new TreeMap<>();
        for (KindId kind : List.of(SLOW, FAST)) {
            views.put(kind, view(kind, job, now));
        }

        assertThat(new KindAts().choose(views)).containsEntry(job.job(), FAST);
    }

    /** A GPU of a kind, which a job may use. */
    private static ClusterView view(KindId kind, TrainingJob job, Instant now) {
        ScheduledJob.Kinds kinds = new ScheduledJob.Kinds(Optional.of(kind), Map.of(SLOW, 1, FAST, 1));
        NodeId node = new NodeId(kind.value() + "-node");
        return new ClusterView(
                now,
                List.of(new ScheduledJob(JobState.of(job, 1), now, 1, true, kinds)),
                List.of(GpuState.free(new GpuId(kind.value() + "-gpu"), node, Pool.TRAINING, now, 0)),
                Set.of(),
                1,
                1,
                0);
    }
}
