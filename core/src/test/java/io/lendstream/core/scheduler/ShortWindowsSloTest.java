package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloFeedback;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Windows of a second say as much of demand and missed SLOs as longer ones, if they are summed up. */
class ShortWindowsSloTest {
    private static final double GOOD = 0.05;
    private static final double BAD = 30;

    private Scenario story = begun(true, Map.of("slo-extra", "0.5"));
    private long sequence = 1_000;

    private static Scenario begun(boolean sums, Map<String, String> others) {
        Map<String, String> settings = new HashMap<>(others);
        settings.put("sum-short-windows", Boolean.toString(sums));
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

    /** Four replicas that serve, by windows of 15 s. */
    private void loaded() {
        for (int i = 0; i < 4; i++) {
            story.after(ofSeconds(15))
                    .settled()
                    .served("chat", 30, GOOD, List.of())
                    .settled();
        }
        assertThat(serving()).isEqualTo(4);
    }

    private RequestRate second(long arrivals, int waiting, Optional<Double> p99) {
        RequestRate rate = story.rateRecord("chat", 0, ++sequence);
        return new RequestRate(
                rate.service(),
                rate.domain(),
                rate.source(),
                rate.bootId(),
                rate.sequence(),
                story.now().minusSeconds(1),
                story.now(),
                new RequestRate.Requests(arrivals, arrivals, 0, waiting),
                new RequestRate.Latency(Optional.empty(), p99),
                List.of(),
                List.of());
    }

    private void seconds(int count, long arrivals, double p99) {
        for (int i = 0; i < count; i++) {
            story.after(ofSeconds(1)).settled();
            story.tell(second(arrivals, 0, Optional.of(p99))).settled();
        }
    }

    @Test
    void moreLoadInWindowsOfASecondGetsMoreReplicas() {
        seconds(5, 10, GOOD);
        long before = serving();

        seconds(10, 40, GOOD);

        assertThat(chat().arrivalsPerSecond()).isEqualTo(40);
        assertThat(serving()).isGreaterThan(before).isGreaterThanOrEqualTo(4);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void withoutTheSettingMoreLoadGetsNone() {
        story = begun(false, Map.of());
        seconds(5, 10, GOOD);
        long before = serving();

        seconds(10, 40, GOOD);

        assertThat(chat().arrivalsPerSecond()).isEqualTo(10);
        assertThat(serving()).isEqualTo(before);
    }

    @Test
    void aMissLastsAsLongAsByTheShortestWindowsOfARate() {
        loaded();
        seconds(14, 30, BAD);
        assertThat(steps()).isZero();

        seconds(1, 30, BAD);

        assertThat(steps()).isEqualTo(1);
    }

    @Test
    void withoutTheSettingThreeWindowsOfAnyLengthAreAMiss() {
        story = begun(false, Map.of("slo-extra", "0.5"));
        loaded();

        seconds(3, 30, BAD);

        assertThat(steps()).isEqualTo(1);
    }

    @Test
    void aSecondWithoutArrivalsIsNotAQueueThatGrows() {
        for (boolean sums : new boolean[] {true, false}) {
            story = begun(sums, Map.of("slo-extra", "0.5"));
            loaded();
            for (int i = 1; i <= 4; i++) {
                story.after(ofSeconds(1)).settled();
                story.tell(second(0, i, Optional.empty())).settled();
            }

            assertThat(chat().feedback().isEmpty()).isEqualTo(sums);
        }
    }

    @Test
    void trustFallsAfterTheSameTimeToo() {
        story = begun(true, Map.of("first-trust", "advise"));
        story.trust(TrustLevel.ALL, true).job("a", 9).settled();
        for (int i = 0; i < 60 && story.count("lent") < 7; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(7);
        sequence = 100_000;

        unanswered(14);
        assertThat(level()).isEqualTo(TrustLevel.ALL);
        unanswered(1);
        assertThat(level()).isEqualTo(TrustLevel.SHARE);
    }

    private void unanswered(int count) {
        for (int i = 0; i < count; i++) {
            story.withoutTicks(ofSeconds(1)).tell(second(75, 0, Optional.of(BAD)));
        }
    }

    private TrustLevel level() {
        return story.state().mode().level();
    }

    /** One window in five makes a rate, and the SLO is judged by it. */
    @Test
    void secondsInWhichNothingEndsDoNotEndARow() {
        loaded();
        for (int i = 1; i <= 15; i++) {
            story.after(ofSeconds(1)).settled();
            story.tell(second(30, 0, i % 5 == 0 ? Optional.of(BAD) : Optional.empty()))
                    .settled();
        }

        assertThat(steps()).isEqualTo(1);
    }
}
