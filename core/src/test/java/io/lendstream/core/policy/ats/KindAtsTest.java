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
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
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

    /** Each kind has some of the jobs, so that not all of them come in the order of the kind before. */
    @Test
    void theOrderOfJobsInAViewMakesNoDifference() {
        List<TrainingJob> jobs = new ArrayList<>();
        for (String name : List.of("a", "b", "c", "d")) {
            jobs.add(Scenario.of("deepboot")
                    .jobRecord(name, 8, true)
                    .onKinds(new KindNeeds(
                            List.of(),
                            Optional.of(SLOW),
                            Optional.empty(),
                            List.of(KindTraits.of(FAST, new KindRatio(2 + jobs.size(), 0.2))))));
        }
        Instant now = jobs.get(0).submittedAt().plus(Duration.ofMinutes(10));
        SplittableRandom random = new SplittableRandom(1);
        for (int run = 0; run < 100; run++) {
            SortedMap<KindId, ClusterView> ordered = new TreeMap<>();
            SortedMap<KindId, ClusterView> turned = new TreeMap<>();
            for (KindId kind : List.of(SLOW, FAST, new KindId("c-none"))) {
                List<TrainingJob> here = new ArrayList<>(jobs);
                here.removeIf(job -> random.nextInt(3) == 0);
                ordered.put(kind, view(kind, here, now));
                Collections.reverse(here);
                turned.put(kind, view(kind, here, now));
            }

            assertThat(new KindAts().choose(turned))
                    .as("run %d", run)
                    .isEqualTo(new KindAts().choose(ordered))
                    .hasSameSizeAs(ordered.values().stream()
                            .flatMap(view -> view.jobs().stream())
                            .map(JobView::job)
                            .distinct()
                            .toList());
        }
    }

    /** A GPU of a kind, which a job may use. */
    private static ClusterView view(KindId kind, TrainingJob job, Instant now) {
        return view(kind, List.of(job), now);
    }

    private static ClusterView view(KindId kind, List<TrainingJob> jobs, Instant now) {
        ScheduledJob.Kinds kinds = new ScheduledJob.Kinds(Optional.of(kind), Map.of(SLOW, 1, FAST, 1));
        NodeId node = new NodeId(kind.value() + "-node");
        return new ClusterView(
                now,
                jobs.stream()
                        .<JobView>map(job -> new ScheduledJob(JobState.of(job, 1), now, 1, true, kinds))
                        .toList(),
                List.of(GpuState.free(new GpuId(kind.value() + "-gpu"), node, Pool.TRAINING, now, 0)),
                Set.of(),
                1,
                1,
                0);
    }
}
