package io.lendstream.core.scheduler;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The service promises 500 ms; a batch of {@code b} takes {@code 20 + 5 b} ms, and batches of 64 are run. */
class BatchChangesTest {
    private Scenario story = Scenario.of("deepboot");

    private void cluster(String product) {
        story.node("infer", Pool.INFERENCE, 4, product).service("chat", 1).settled();
    }

    private static List<BatchTimes> batches(double slower) {
        List<BatchTimes> times = new ArrayList<>();
        for (int batch : List.of(1, 8, 32, 64)) {
            times.add(new BatchTimes(Optional.empty(), batch, 0, 30, slower * (20 + 5 * batch)));
        }
        return times;
    }

    /** Windows of 15 s, one after the other; all that was decided on batching. */
    private List<Decision> windows(int count, double perSecond, double p99Seconds, List<BatchTimes> batches) {
        int before = story.decisions().size();
        for (int i = 0; i < count; i++) {
            story.after(ofSeconds(15)).settled();
            story.served("chat", perSecond, p99Seconds, batches).settled();
        }
        return batching(story.decisions().subList(before, story.decisions().size()));
    }

    private static List<Decision> batching(List<Decision> decisions) {
        return decisions.stream()
                .filter(decision -> decision.action() instanceof Action.Batching)
                .toList();
    }

    private static Bucket only(Decision decision) {
        List<Bucket> buckets = ((Action.Batching) decision.action()).buckets();
        assertThat(buckets).hasSize(1);
        return buckets.get(0);
    }

    private Optional<ServiceBatches> known() {
        return story.state().services().require(new ServiceId("chat")).batches();
    }

    @AfterEach
    void theHistoryIsClean() {
        story.after(ofSeconds(1));
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void tellsAServiceHowToBatchOnceItsBatchesAreKnown() {
        cluster("NVIDIA A100-SXM4-80GB");

        List<Decision> decided = windows(10, 8, .1, batches(1));

        Decision first = decided.get(0);
        assertThat(first.action().gpus()).containsExactly(new GpuId("infer-g0"));
        // 1.12 * 2 * (20 + 5 * 40) = 493 ms, less a margin of 10 to 30 %
        assertThat(only(first).maxBatch()).isBetween(30, 37);
        assertThat(first.reason().code()).isEqualTo("batches");
        assertThat(first.reason().text())
                .startsWith("chat uses batches of at most ")
                .contains(": its batch times are now known well enough for its SLO of 500 ms; the plan adds ");
        assertThat(first.reason().numbers()).containsEntry("sloMillis", 500.0);
        assertThat(first.reason().inputs())
                .contains(story.log().stream()
                        .filter(event -> event.at().equals(first.at()))
                        .findFirst()
                        .orElseThrow()
                        .sequence());
        assertThat(decided).hasSizeLessThanOrEqualTo(3);
        assertThat(only(decided.get(decided.size() - 1)).maxBatch()).isBetween(33, 40);
    }

    @Test
    void whereAnswersAreLateBatchesBecomeSmallerAndTheReasonSaysSo() {
        cluster("NVIDIA A100-SXM4-80GB");
        List<Decision> before = windows(10, 8, .1, batches(1));
        int inForce = only(before.get(before.size() - 1)).maxBatch();

        Decision late = windows(1, 8, .53, batches(1)).get(0);

        int batch = only(late).maxBatch();
        assertThat(batch).isBetween((int) (.85 * inForce), (int) (.93 * inForce));
        assertThat(only(late).maxQueueDelay()).isEqualTo(Duration.ZERO);
        assertThat(late.reason().code()).isEqualTo("late");
        assertThat(late.reason().text())
                .startsWith("chat uses batches of at most %d instead of %d".formatted(batch, inForce))
                .contains(": its p99 latency was 530 ms (SLO: 500 ms); the plan adds ");
        assertThat(late.reason().numbers()).containsEntry("p99Millis", 530.0);
    }

    @Test
    void aDriftMakesBatchesSmallerAndShowsInTheReason() {
        cluster("NVIDIA A100-SXM4-80GB");
        List<Decision> before = windows(20, 8, .1, batches(1));

        List<Decision> after = windows(5, 8, .1, batches(1.3));

        assertThat(after).isNotEmpty();
        assertThat(only(after.get(0)).maxBatch())
                .isLessThan(only(before.get(before.size() - 1)).maxBatch());
        assertThat(after.get(0).reason().text()).endsWith(" % to measured batch times, which have drifted");
    }

    @Test
    void saysNothingAgainWhileNothingChanges() {
        cluster("NVIDIA A100-SXM4-80GB");
        windows(30, 8, .1, batches(1));

        assertThat(windows(30, 8, .1, batches(1))).isEmpty();
    }

    @Test
    void theSettingIsPublishedAgainAfterAWeek() {
        cluster("NVIDIA A100-SXM4-80GB");
        windows(30, 8, .1, batches(1));

        story.after(ofDays(8));
        List<Decision> again = windows(1, 8, .1, batches(1));

        assertThat(again).hasSize(1);
        assertThat(again.get(0).reason().text())
                .startsWith("chat uses batches of at most ")
                .contains(": the setting is published again every 7 days; ");
    }

    @Test
    void newReplicasGetTheSetting() {
        cluster("NVIDIA A100-SXM4-80GB");
        windows(30, 8, .1, batches(1));

        List<Decision> more = windows(2, 9, .1, batches(1));

        assertThat(more).hasSize(1);
        assertThat(more.get(0).action().gpus()).hasSize(2);
        assertThat(more.get(0).reason().text())
                .startsWith("chat uses batches of at most ")
                .contains(": 1 new replica needs the setting; ");
    }

    @Test
    void isNotSaidMoreOftenThanEveryTenSeconds() {
        cluster("NVIDIA A100-SXM4-80GB");
        windows(10, 8, .1, batches(1));
        List<Decision> decided = new ArrayList<>();

        for (int i = 0; i < 60; i++) {
            story.after(ofSeconds(1)).served("chat", 8, .6, batches(1));
            decided.addAll(batching(story.last()));
            story.settled();
        }

        assertThat(decided).hasSizeBetween(2, 6);
        for (int i = 1; i < decided.size(); i++) {
            assertThat(decided.get(i).at())
                    .isAfterOrEqualTo(decided.get(i - 1).at().plusSeconds(10));
        }
    }

    @Test
    void aFreezeStopsIt() {
        cluster("NVIDIA A100-SXM4-80GB");
        story.control(ControlCommand.Kind.FREEZE);

        assertThat(windows(5, 8, .6, batches(1))).isEmpty();

        story.control(ControlCommand.Kind.THAW);
        assertThat(windows(1, 8, .6, batches(1))).hasSize(1);
    }

    @Test
    void adviceChangesNothing() {
        cluster("NVIDIA A100-SXM4-80GB");
        story.node("train", Pool.TRAINING, 2).job("bert", 2).control(ControlCommand.Kind.ADVISORY_ON);

        List<Decision> advice = windows(20, 8, .1, batches(1));

        assertThat(advice)
                .isNotEmpty()
                .allSatisfy(decision -> assertThat(decision.advisory()).isTrue());
        assertThat(known().orElseThrow().decided()).isEmpty();
    }

    @Test
    void batchesOnUnknownGpusAreNotCounted() {
        cluster("test GPU");

        assertThat(windows(5, 8, .6, batches(1))).isEmpty();
        assertThat(known()).isEmpty();
    }
}
