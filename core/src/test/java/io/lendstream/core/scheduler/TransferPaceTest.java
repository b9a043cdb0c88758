package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.Moment.NOW;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Pacing;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How many GPUs plans may set on their way, and what a missed SLO of 500 ms makes of it. */
class TransferPaceTest {
    private final Moment moment = new Moment().node("infer", Pool.INFERENCE, 4).service("chat", 1);

    private static SchedulerSettings transfers(int most) {
        return SchedulerSettings.DEFAULTS.withChangeLimits(
                new ChangeLimits(1, 1000, most, Duration.ZERO, QuietWindows.NONE));
    }

    /** What a rate with such a p99 makes of the pace. */
    private Optional<Pacing> served(int most, Optional<Double> p99Seconds) {
        RequestRate rate = moment.rateOf("chat", 5, ofSeconds(15), p99Seconds);
        StepBuilder builder = moment.observed(rate);
        new TransferPace(builder, transfers(most)).observe(rate);
        moment.kept(builder);
        return moment.state().pacing();
    }

    private Optional<Pacing> recovered(Duration after, int most) {
        StepBuilder builder = moment.after(after);
        new TransferPace(builder, transfers(most)).recover();
        return builder.pacing();
    }

    private void paced(int transfers) {
        moment.set(builder -> builder.pacing(Optional.of(new Pacing(transfers, NOW))));
    }

    private long room(int most) {
        return new TransferPace(moment.after(Duration.ZERO), transfers(most)).room();
    }

    @Test
    void onlyALatencyAboveTheSloSlowsTransfers() {
        assertThat(served(32, Optional.empty())).isEmpty();
        assertThat(served(32, Optional.of(0.5))).isEmpty();
        assertThat(served(32, Optional.of(0.501))).contains(new Pacing(16, NOW));
    }

    @Test
    void theLatencyOfAnUnknownServiceSlowsNothing() {
        RequestRate rate = moment.rateOf("unknown", 5, ofSeconds(15), Optional.of(9.0));
        StepBuilder builder = moment.observed(rate);

        new TransferPace(builder, transfers(32)).observe(rate);

        assertThat(builder.pacing()).isEmpty();
    }

    @Test
    void aServiceThatGoesOnMissingItsSloHalvesThePaceOnceAMinute() {
        served(32, Optional.of(1.0));
        moment.later(ofMillis(59_999));
        assertThat(served(32, Optional.of(1.0))).contains(new Pacing(16, NOW));

        moment.later(ofMillis(1));
        assertThat(served(32, Optional.of(1.0))).contains(new Pacing(8, NOW.plusSeconds(60)));
    }

    @Test
    void oneTransferIsAlwaysAllowed() {
        assertThat(served(1, Optional.of(1.0))).contains(new Pacing(1, NOW));
    }

    @Test
    void aPlanAMinuteAfterAMissRaisesThePaceByASixteenthOfTheUsualAmount() {
        paced(4);

        assertThat(recovered(ofMillis(59_999), 32)).contains(new Pacing(4, NOW));
        assertThat(recovered(ofMinutes(1), 32)).contains(new Pacing(6, NOW));
        assertThat(recovered(ofMinutes(1), 8)).as("by one at least").contains(new Pacing(5, NOW));
    }

    @Test
    void whatIsUsualIsNoPaceToKeep() {
        paced(29);
        assertThat(recovered(ofMinutes(1), 32)).contains(new Pacing(31, NOW));

        paced(30);
        assertThat(recovered(ofMinutes(1), 32)).isEmpty();
    }

    @Test
    void whereNothingWasMissedThereIsNothingToRecover() {
        assertThat(recovered(ofMinutes(1), 32)).isEmpty();
    }

    @Test
    void theRoomIsWhatIsNotOnItsWayYet() {
        assertThat(room(3)).isEqualTo(3);

        moment.owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "infer-g0");
        assertThat(room(3)).isEqualTo(2);
        moment.owned(Moment.releasing(Moment.job("a"), ofSeconds(90)), "infer-g1");
        assertThat(room(3)).isEqualTo(1);
        assertThat(room(2)).isZero();
        assertThat(room(1)).as("never below none").isZero();
    }

    @Test
    void onlyTransfersOfInferencesGpusToJobsOrBackAreCounted() {
        moment.node("train", Pool.TRAINING, 1)
                .owned(Moment.binding(Moment.job("a"), ofMinutes(1)), "train-g0")
                .owned(Moment.binding(Moment.service("chat"), ofMinutes(1)), "infer-g0")
                .owned(Moment.releasing(Moment.service("chat"), ofSeconds(90)), "infer-g1")
                .owned(Moment.lent("a", ofMinutes(10)), "infer-g2");

        assertThat(room(3)).isEqualTo(3);
    }

    @Test
    void aSlowerPaceLeavesLessRoomAndAFasterOneThanUsualNoMore() {
        paced(2);
        assertThat(room(3)).isEqualTo(2);
        paced(9);
        assertThat(room(3)).isEqualTo(3);
    }
}
