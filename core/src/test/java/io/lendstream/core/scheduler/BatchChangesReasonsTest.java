package io.lendstream.core.scheduler;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.batching.BatchingGuard;
import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The times at which a service with known batches gets a setting, and the text of the reason. */
class BatchChangesReasonsTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final GpuId GPU = new GpuId("infer-g0");

    private final Scenario story = learned();
    private final EditedState state = new EditedState(story);
    private final ServiceBatches known =
            state.state().services().require(CHAT).batches().orElseThrow();
    private final Action.Batching inForce = known.decided().orElseThrow();
    private Step step;

    /** One replica on a whole A100 whose batches of b take 20 + 5 b ms; it has a setting. */
    private static Scenario learned() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4, "NVIDIA A100-SXM4-80GB")
                .service("chat", 1)
                .settled();
        for (int i = 0; i < 30; i++) {
            story.after(ofSeconds(15)).settled();
            story.served("chat", 8, .1, List.of(times(1), times(8), times(32), times(64)))
                    .settled();
        }
        return story;
    }

    private static BatchTimes times(int batch) {
        return new BatchTimes(Optional.empty(), batch, 0, 30, 20 + 5 * batch);
    }

    private Action.Batching told(List<GpuId> gpus, Bucket... buckets) {
        return new Action.Batching(CHAT, gpus, Optional.empty(), List.of(buckets));
    }

    /** What the service was last told and when, when it was last judged, and the longest p99 since. */
    private void situation(Optional<Action.Batching> decided, Duration told, Duration judged, Optional<Double> p99) {
        Instant now = state.now();
        state.service(
                "chat",
                service -> service.with(new ServiceBatches(
                        known.gpu(),
                        known.largest(),
                        known.learned(),
                        known.sizes(),
                        decided,
                        now.minus(told),
                        new BatchingGuard(now.minus(judged), 1, Optional.empty(), p99))));
    }

    private Optional<Decision> adjusted() {
        StepBuilder builder = state.draft();
        new BatchChanges(builder, SchedulerSettings.DEFAULTS)
                .adjust(builder.services().values());
        step = builder.finished();
        assertThat(step.decisions()).hasSizeLessThanOrEqualTo(1);
        return step.decisions().stream().findFirst();
    }

    private ServiceState chat() {
        return step.state().services().require(CHAT);
    }

    /** How the text names what holds now. */
    private static String inWords(Action action) {
        Bucket bucket = ((Action.Batching) action).buckets().get(0);
        long delay = bucket.maxQueueDelay().toMillis();
        return bucket.maxBatch() + (delay > 0 ? ", started after at most %d ms".formatted(delay) : "");
    }

    @Test
    void aReplicaWithoutTheSettingGetsTheSettingInForce() {
        Action.Batching before = told(List.of(), inForce.buckets().get(0));
        situation(Optional.of(before), ofMinutes(1), ofSeconds(15), Optional.empty());

        Decision decision = adjusted().orElseThrow();

        assertThat(decision.action())
                .isEqualTo(told(List.of(GPU), inForce.buckets().get(0)));
        assertThat(decision.deadline()).isEqualTo(state.now().plusSeconds(45));
        assertThat(decision.reason().code()).isEqualTo("batches");
        assertThat(decision.reason().text())
                .matches("chat uses batches of at most "
                        + inWords(inForce)
                        + ": 1 new replica needs the setting; the plan adds \\d+ % to measured batch times");
        Bucket bucket = inForce.buckets().get(0);
        assertThat(decision.reason().numbers())
                .containsOnlyKeys(
                        "sloMillis", "maxBatch", "maxQueueDelayMillis", "margin", "replicas", "requestsPerSecond")
                .containsEntry("sloMillis", 500.0)
                .containsEntry("maxBatch", (double) bucket.maxBatch())
                .containsEntry(
                        "maxQueueDelayMillis", (double) bucket.maxQueueDelay().toMillis())
                .containsEntry("replicas", 1.0)
                .containsEntry("requestsPerSecond", 8.0);
        assertThat(decision.reason().text())
                .contains(" adds %.0f %% to"
                        .formatted(100 * decision.reason().numbers().get("margin")));
        assertThat(decision.reason().inputs())
                .containsExactly(
                        state.state().services().require(CHAT).demand().event(),
                        state.state().eventSequence() + 1);
        assertThat(chat().batches().orElseThrow().decided()).contains((Action.Batching) decision.action());
        assertThat(chat().batches().orElseThrow().at()).isEqualTo(state.now());
    }

    @Test
    void isJudgedOnceAWindowHasPassed() {
        Action.Batching before = told(List.of(), inForce.buckets().get(0));

        situation(Optional.of(before), ofMinutes(1), ofSeconds(15).minusMillis(1), Optional.empty());
        assertThat(adjusted()).isEmpty();
        assertThat(step.changed().services()).isEmpty();

        situation(Optional.of(before), ofMinutes(1), ofSeconds(15), Optional.empty());
        assertThat(adjusted()).isPresent();
    }

    @Test
    void isNotJudgedWithoutAReportSince() {
        Action.Batching before = told(List.of(), inForce.buckets().get(0));
        state.later(ofSeconds(20));

        situation(Optional.of(before), ofMinutes(1), ofSeconds(20), Optional.empty());
        assertThat(adjusted()).isEmpty();

        situation(Optional.of(before), ofMinutes(1), ofMillis(20_001), Optional.empty());
        assertThat(adjusted()).isPresent();
    }

    @Test
    void whereWindowsAreShortItIsJudgedEveryTenSeconds() {
        Action.Batching before = told(List.of(), inForce.buckets().get(0));
        state.service(
                "chat",
                service -> service.with(Map.of(
                        "gateway",
                        new SourceRate(
                                "boot-1",
                                99,
                                story.now(),
                                ofSeconds(5),
                                8,
                                0,
                                0,
                                story.state().eventSequence(),
                                Optional.empty()))));

        situation(Optional.of(before), ofMinutes(1), ofMillis(9_999), Optional.empty());
        assertThat(adjusted()).isEmpty();
        situation(Optional.of(before), ofMinutes(1), ofSeconds(10), Optional.empty());
        assertThat(adjusted()).isPresent();
    }

    @Test
    void whatHoldsIsNotSaidAgainWithinAWeekButTheJudgementIsKept() {
        situation(Optional.of(inForce), ofDays(7).minusMillis(1), ofSeconds(15), Optional.empty());

        assertThat(adjusted()).isEmpty();

        assertThat(chat().batches().orElseThrow().guard().judgedAt()).isEqualTo(state.now());
        assertThat(chat().batches().orElseThrow().decided()).contains(inForce);
    }

    @Test
    void theSettingIsPublishedAgainAfterAWeek() {
        situation(Optional.of(inForce), ofDays(7), ofSeconds(15), Optional.empty());

        Decision again = adjusted().orElseThrow();

        assertThat(again.action()).isEqualTo(inForce);
        assertThat(again.reason().text())
                .startsWith("chat uses batches of at most " + inWords(inForce)
                        + ": the setting is published again every 7 days; ");
    }

    @Test
    void aSettingForAnotherSizeOfInstanceIsNotInForce() {
        Action.Batching other = new Action.Batching(CHAT, List.of(GPU), Optional.of("1g.10gb"), inForce.buckets());
        situation(Optional.of(other), ofMinutes(1), ofSeconds(15), Optional.empty());

        assertThat(adjusted().orElseThrow().reason().text())
                .startsWith("chat uses batches of at most ")
                .contains(": its batch times are now known well enough for its SLO of 500 ms; ");
    }

    @Test
    void aChangeNamesTheRateTheReplicasAndWhatHeldBefore() {
        Action.Batching before = told(List.of(GPU), new Bucket(1, 5, ofMillis(7)));
        situation(Optional.of(before), ofMinutes(1), ofSeconds(15), Optional.empty());

        Decision changed = adjusted().orElseThrow();

        assertThat(changed.reason().text())
                .startsWith("chat uses batches of at most "
                        + inWords(changed.action())
                        + " instead of 5, started after at most 7 ms: it answers 8.0 requests/s on 1 replica within its SLO"
                        + " of 500 ms; the plan adds ");
    }

    @Test
    void bucketsAreNamedWithTheirSizesAndTheLongestDelay() {
        Action.Batching before = told(List.of(GPU), new Bucket(64, 32, ofMillis(5)), new Bucket(512, 8, ofMillis(3)));
        situation(Optional.of(before), ofMinutes(1), ofSeconds(15), Optional.empty());

        assertThat(adjusted().orElseThrow().reason().text())
                .contains(" instead of 32 up to input size 64, 8 up to input size 512, started after at most 5 ms: ");
    }

    @Test
    void batchesThatBeginAtOnceAreNamedWithoutADelay() {
        Action.Batching before = told(List.of(GPU), new Bucket(1, 5, Duration.ZERO));
        situation(Optional.of(before), ofMinutes(1), ofSeconds(15), Optional.empty());

        assertThat(adjusted().orElseThrow().reason().text()).contains(" instead of 5: ");
    }

    @Test
    void theReasonForALateServiceNamesItsP99() {
        situation(Optional.of(inForce), ofMinutes(1), ofSeconds(15), Optional.of(.6));

        Decision late = adjusted().orElseThrow();

        assertThat(late.reason().code()).isEqualTo("late");
        assertThat(late.reason().text())
                .startsWith("chat uses batches of at most ")
                .contains(": its p99 latency was 600 ms (SLO: 500 ms); ");
        assertThat(late.reason().numbers()).containsEntry("p99Millis", 600.0);
    }

    @Test
    void noSettingIsDecidedWhileFrozenNorWithoutAReplicaThatServesNorOnAnotherKindOfGpu() {
        Action.Batching before = told(List.of(), inForce.buckets().get(0));
        situation(Optional.of(before), ofMinutes(1), ofSeconds(15), Optional.empty());
        state.mode(new Mode(true, false, false));
        assertThat(adjusted()).isEmpty();

        state.mode(new Mode(false, false, false)).owner("infer-g0", new Owner.Sleeping(CHAT));
        assertThat(adjusted()).isEmpty();

        state.owner("infer-g0", new Owner.Serving(CHAT));
        assertThat(adjusted()).isPresent();
        state.service(
                "chat",
                service -> service.with(new ServiceBatches(
                        "H100-SXM5-80GB",
                        known.largest(),
                        known.learned(),
                        known.sizes(),
                        Optional.of(before),
                        state.now().minusSeconds(60),
                        service.batches().orElseThrow().guard())));
        assertThat(adjusted()).isEmpty();
    }

    @Test
    void allReplicasThatServeShareTheRequests() {
        Action.Batching before = told(List.of(GPU), inForce.buckets().get(0));
        state.owner("infer-g1", new Owner.Serving(CHAT)).owner("infer-g2", new Owner.Serving(CHAT));
        situation(Optional.of(before), ofMinutes(1), ofSeconds(15), Optional.empty());

        Decision told = adjusted().orElseThrow();

        assertThat(told.action().gpus()).containsExactly(GPU, new GpuId("infer-g1"), new GpuId("infer-g2"));
        assertThat(told.reason().text()).contains(": 2 new replicas need the setting; ");
        assertThat(told.reason().numbers()).containsEntry("replicas", 3.0);
    }
}
