package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloFeedback;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a service gets that misses its SLO with the replicas for its load. */
class SloWatchTest {
    private static final double GOOD = 0.05;
    private static final double BAD = 30;

    private Scenario story = begun("0.5");

    private static Scenario begun(String extra) {
        return begun(Map.of("slo-extra", extra));
    }

    private static Scenario begun(Map<String, String> settings) {
        return new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(settings)))
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 8)
                .service("chat", 1)
                .settled();
    }

    private ServiceState chat() {
        return story.state().services().require(new ServiceId("chat"));
    }

    private int steps() {
        return chat().feedback().map(SloFeedback::steps).orElse(0);
    }

    private long serving() {
        return story.state().gpus().stream()
                .filter(unit -> unit.owner().isServing())
                .count();
    }

    /** Windows of 15 s with this load and p99. */
    private void windows(int windows, double perSecond, double p99) {
        for (int i = 0; i < windows; i++) {
            story.after(ofSeconds(15))
                    .settled()
                    .served("chat", perSecond, p99, List.of())
                    .settled();
        }
    }

    /** Four replicas that serve. */
    private void loaded() {
        windows(4, 30, GOOD);
        assertThat(serving()).isEqualTo(4);
    }

    @Test
    void aReplicaMoreAfterThreeMissedWindows() {
        loaded();
        windows(2, 30, BAD);
        assertThat(serving()).isEqualTo(4);

        windows(1, 30, BAD);

        assertThat(serving()).isEqualTo(5);
        Decision given = story.decisions().get(story.decisions().size() - 1);
        assertThat(given.reason().text())
                .contains("4 needed for the current load, and 1 more, as it missed its SLO with them");
        assertThat(given.reason().numbers()).containsEntry("needed", 5.0).containsEntry("neededForSlo", 1.0);
    }

    @Test
    void withoutTheSettingNothingChanges() {
        story = begun("0");
        loaded();

        windows(10, 30, BAD);

        assertThat(serving()).isEqualTo(4);
        assertThat(chat().feedback()).isEmpty();
    }

    @Test
    void missesInARowOnly() {
        loaded();

        for (int i = 0; i < 5; i++) {
            windows(2, 30, BAD);
            windows(1, 30, GOOD);
        }

        assertThat(steps()).isZero();
    }

    @Test
    void noMoreThanTheBound() {
        loaded();

        windows(40, 30, BAD);

        assertThat(serving()).isEqualTo(6);
        assertThat(steps()).isEqualTo(2);
    }

    @Test
    void oneReplicaIsAllowedUnderEachBound() {
        story = begun("0.1");
        windows(4, 5, GOOD);

        windows(12, 5, BAD);

        assertThat(serving()).isEqualTo(2);
    }

    @Test
    void replicasThatStillStartAreAwaited() {
        loaded();
        for (int i = 0; i < 8; i++) {
            story.after(ofSeconds(15)).served("chat", 75, BAD, List.of());
        }

        assertThat(steps()).isZero();
        assertThat(chat().feedback().orElseThrow().missedWithin(ofMinutes(10), story.now()))
                .isTrue();
    }

    @Test
    void windowsBeforeTheReplicasServedAreNoSignThatTheyAreTooFew() {
        windows(2, 5, GOOD);
        windows(2, 30, BAD);
        assertThat(serving()).isEqualTo(4);

        windows(1, 30, BAD);
        assertThat(steps()).isZero();

        windows(1, 30, BAD);
        assertThat(steps()).isEqualTo(1);
    }

    @Test
    void windowsThatComeLateAndTogetherAddOneStep() {
        loaded();
        windows(3, 30, BAD);
        assertThat(steps()).isEqualTo(1);

        for (int i = 1; i <= 6; i++) {
            RequestRate rate = story.rateRecord("chat", 30, 1_000 + i);
            Duration late = ofSeconds(15L * (6 - i));
            story.tell(new RequestRate(
                            rate.service(),
                            rate.domain(),
                            rate.source(),
                            rate.bootId(),
                            rate.sequence(),
                            rate.windowStart().minus(late),
                            rate.windowEnd().minus(late),
                            rate.requests(),
                            new RequestRate.Latency(Optional.of(BAD), Optional.of(BAD)),
                            List.of(),
                            List.of()))
                    .settled();
        }

        assertThat(steps()).isEqualTo(1);
    }

    @Test
    void aQueueThatGrowsBeyondTheSloCountsToo() {
        loaded();
        for (int i = 1; i <= 3; i++) {
            story.after(ofSeconds(15)).settled();
            story.tell(counted(10, 1_000 + i, new RequestRate.Requests(150, 150, 0, 20 * i)))
                    .settled();
        }

        assertThat(steps()).isEqualTo(1);
    }

    @Test
    void aSourceThatNeverCountsAnswersMissesNothing() {
        loaded();
        for (int i = 1; i <= 5; i++) {
            story.after(ofSeconds(15)).settled();
            story.tell(counted(30, 1_000 + i, new RequestRate.Requests(525, 0, 0, 0)))
                    .settled();
        }

        assertThat(chat().feedback()).isEmpty();
    }

    /** A rate without a latency. */
    private RequestRate counted(double perSecond, long sequence, RequestRate.Requests requests) {
        RequestRate rate = story.rateRecord("chat", perSecond, sequence);
        return new RequestRate(
                rate.service(),
                rate.domain(),
                rate.source(),
                rate.bootId(),
                rate.sequence(),
                rate.windowStart(),
                rate.windowEnd(),
                requests,
                rate.latency(),
                List.of(),
                List.of());
    }

    @Test
    void ratesThatComeAgainAddNoStep() {
        loaded();
        windows(3, 30, BAD);
        SloFeedback once = chat().feedback().orElseThrow();
        RequestRate last = story.log().stream()
                .flatMap(event -> event.event().asRate().stream())
                .reduce((first, second) -> second)
                .orElseThrow();

        for (int i = 0; i < 5; i++) {
            story.tell(last).settled();
        }

        assertThat(chat().feedback()).contains(once);
    }

    @Test
    void aMissLongAfterAStepWasTakenBackWasNotTooEarly() {
        loaded();
        SloFeedback taken = SloFeedback.of(story.now())
                .raised(4, 0.5, story.now())
                .raised(4, 0.5, story.now())
                .rested(story.now().plus(ofMinutes(10)));

        assertThat(taken.raised(4, 0.5, story.now().plus(ofMinutes(15))).patience())
                .isEqualTo(ofMinutes(20));
        assertThat(taken.raised(4, 0.5, story.now().plus(ofMinutes(25))).patience())
                .isEqualTo(ofMinutes(10));
    }

    @Test
    void aStepIsTakenBackAfterTenMinutesAndLaterTheNextTime() {
        loaded();
        windows(3, 30, BAD);
        windows(39, 30, GOOD);
        assertThat(steps()).isEqualTo(1);

        windows(1, 30, GOOD);
        assertThat(steps()).isZero();

        windows(3, 30, BAD);
        assertThat(steps()).isEqualTo(1);
        assertThat(chat().feedback().orElseThrow().patience()).isEqualTo(ofMinutes(20));
        windows(79, 30, GOOD);
        assertThat(steps()).isEqualTo(1);
        windows(1, 30, GOOD);
        assertThat(steps()).isZero();
    }

    @Test
    void whatMattersNoMoreIsForgotten() {
        loaded();
        windows(3, 30, BAD);

        windows(130, 30, GOOD);

        assertThat(chat().feedback()).isEmpty();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void theTimeUntilAStepIsTakenBackIsADayAtMost() {
        SloFeedback feedback = SloFeedback.of(story.now());
        for (int i = 0; i < 20; i++) {
            feedback = feedback.missed(story.now()).raised(4, 0.5, story.now());
            feedback = feedback.rested(story.now().plus(Duration.ofDays(2)));
        }

        assertThat(feedback.patience()).isEqualTo(Duration.ofDays(1));
    }

    @Test
    void nothingOfItIsLentForTenMinutes() {
        assertThat(lentAfterPeak(GOOD)).isPositive();

        story = begun("0.5");
        assertThat(lentAfterPeak(BAD)).isZero();
        Scheduler scheduler =
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("slo-extra", "0.5")));
        assertThat(LendingReview.of(scheduler, story.state(), story.now())
                        .inference()
                        .toString())
                .contains("which missed its SLO at");

        trained(40);

        assertThat(lent()).isPositive();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void theTimeWithoutLoansIsASetting() {
        story = begun(Map.of("slo-extra", "0.5", "slo-withhold", "PT1M"));

        assertThat(lentAfterPeak(BAD)).isPositive();
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** GPUs lent five minutes after a peak of all eight GPUs, whose last minute had this p99. */
    private long lentAfterPeak(double p99) {
        windows(20, 60, GOOD);
        windows(4, 60, p99);
        story.job("a", 9).settled();
        trained(20);
        return lent();
    }

    /** Windows of low load, in which a job trains. */
    private void trained(int windows) {
        for (int i = 0; i < windows; i++) {
            windows(1, 5, GOOD);
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
    }

    private long lent() {
        return story.state().gpus().stream()
                .filter(unit -> unit.pool() == Pool.INFERENCE && unit.owner().isHeldByJob())
                .count();
    }

    @Test
    void twoServicesAreJudgedEachByItself() {
        loaded();
        story.service("other", 1).settled();

        windows(6, 30, BAD);

        assertThat(story.state().services().require(new ServiceId("other")).feedback())
                .isEqualTo(Optional.empty());
    }
}
