package io.lendstream.core.policy.jct;

import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.pace;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.Views;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class JctKindsTest {
    private static final KindId SLOW = new KindId("a-slow");
    private static final KindId FAST = new KindId("b-fast");

    private final KindChooser kinds = Policies.parse("lendstream").kinds().orElseThrow();

    private static JobView on(String name, double seconds, GpuId... held) {
        return job(name, 1, List.of(held), pace(seconds, 1), Optional.empty());
    }

    /** One GPU of each kind. */
    private static SortedMap<KindId, ClusterView> views(List<JobView> slow, List<JobView> fast) {
        SortedMap<KindId, ClusterView> views = new TreeMap<>();
        views.put(SLOW, Views.cluster(slow, 1));
        views.put(FAST, Views.cluster(fast, 1));
        return views;
    }

    @Test
    void aWaitingJobGoesWhereItIsFaster() {
        assertThat(kinds.choose(views(List.of(on("a", 6000)), List.of(on("a", 1000)))))
                .containsExactlyEntriesOf(Map.of(job("a"), FAST));
    }

    /** A restart takes 30 s of 300: a kind that is 1.05 times as fast does not pay it back, one twice as fast does. */
    @Test
    void aRunningJobMovesOnlyIfTheRestartPaysBack() {
        JobView runs = on("a", 6000, gpu(0, 0));

        assertThat(kinds.choose(views(List.of(runs), List.of(on("a", 6000 / 1.05)))))
                .containsEntry(job("a"), SLOW);
        assertThat(kinds.choose(views(List.of(runs), List.of(on("a", 3000))))).containsEntry(job("a"), FAST);
    }

    /** Little is left of it: the restart takes longer than the job. */
    @Test
    void aJobThatIsNearlyDoneStays() {
        assertThat(kinds.choose(views(List.of(on("a", 40, gpu(0, 0))), List.of(on("a", 20)))))
                .containsEntry(job("a"), SLOW);
    }

    /** Both are twice as fast on the same GPU. */
    @Test
    void theShortJobGetsTheFastGpu() {
        assertThat(kinds.choose(views(
                        List.of(on("long", 8000), on("short", 800)), List.of(on("long", 4000), on("short", 400)))))
                .containsEntry(job("short"), FAST)
                .containsEntry(job("long"), SLOW);
    }

    /** It gains much there, the short one little. */
    @Test
    void theJobThatGainsMostGetsTheFastGpu() {
        assertThat(kinds.choose(views(
                        List.of(on("long", 8000), on("short", 800)), List.of(on("long", 1000), on("short", 780)))))
                .containsEntry(job("short"), SLOW)
                .containsEntry(job("long"), FAST);
    }

    @Test
    void aJobStaysOffAKindThatItMayNotUse() {
        assertThat(kinds.choose(views(List.of(on("a", 6000)), List.of()))).containsEntry(job("a"), SLOW);
    }
}
