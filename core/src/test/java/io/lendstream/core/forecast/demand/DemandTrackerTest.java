package io.lendstream.core.forecast.demand;

import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.demand.DemandTracker.Intake;
import io.lendstream.core.forecast.service.Rates;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DemandTrackerTest {
    private static final long STEP_ZERO = MIDNIGHT.toEpochMilli() / 60_000;

    private final DemandTracker tracker = new DemandTracker(Duration.ofMinutes(1));

    @Test
    void closesAStepWithTheRecordThatCompletesIt() {
        var gateway = Rates.of("gateway");
        assertThat(feed(gateway.next(10), gateway.next(20), gateway.next(30))).isEmpty();

        assertThat(feed(gateway.next(60))).containsExactly(closed(0, 120 / 60.0));
    }

    @Test
    void waitsForEverySourceAndAddsThemUp() {
        var left = Rates.of("left").every(Duration.ofSeconds(30));
        var right = Rates.of("right").every(Duration.ofSeconds(30));
        assertThat(feed(left.next(30), right.next(60), left.next(30))).isEmpty();

        assertThat(feed(right.next(60))).containsExactly(closed(0, 3));
    }

    @Test
    void waitsNoLongerForASourceThatMissedThreeWindows() {
        var alive = Rates.of("alive");
        var dying = Rates.of("dying");
        feed(alive.next(15), dying.next(15));
        assertThat(feed(alive.next(15), alive.next(15), alive.next(15))).isEmpty();

        assertThat(feed(alive.next(15))).containsExactly(closed(0, 75 / 60.0));
        assertThat(feed(alive.next(15), alive.next(15), alive.next(15))).containsExactly(closed(1, 1));
    }

    /**
     * Steps hold what all sources had in them by their own clocks, from the time on when the last of them has joined.
     */
    @ParameterizedTest
    @CsvSource({"2, true", "2, false", "10, true", "10, false"})
    void waitsForAllOthersWhileOneSourceIsFourMinutesAhead(int sources, boolean aheadIsFirst) {
        List<Rates> agents = new ArrayList<>();
        for (int i = 1; i < sources; i++) {
            agents.add(Rates.of("agent-" + i));
        }
        agents.add(aheadIsFirst ? 0 : sources - 1, Rates.of("ahead").from(MIDNIGHT.plusSeconds(240)));
        List<ClosedStep> closed = new ArrayList<>();
        int late = 0;
        for (int window = 0; window < 4 * 60; window++) {
            for (Rates agent : agents) {
                var rate = agent.next(15);
                late += tracker.add(rate) == Intake.LATE && window > 20 ? 1 : 0;
                closed.addAll(tracker.close());
            }
        }

        assertThat(late).isZero();
        assertThat(closed).hasSizeGreaterThan(50);
        assertThat(closed)
                .filteredOn(step -> step.number() > STEP_ZERO + 5)
                .hasSizeGreaterThan(50)
                .allSatisfy(step -> assertThat(step.arrivalsPerSecond()).hasValue(sources));
    }

    @Test
    void doesNotWaitForOneOfThreeThatIsFourMinutesBehind() {
        var agents = List.of(
                Rates.of("a").from(MIDNIGHT.plusSeconds(240)),
                Rates.of("b").from(MIDNIGHT.plusSeconds(240)),
                Rates.of("behind"));
        List<ClosedStep> closed = new ArrayList<>();
        for (int window = 0; window < 4 * 10; window++) {
            for (Rates agent : agents) {
                closed.addAll(feed(agent.next(15)));
            }
        }

        assertThat(closed).hasSizeGreaterThanOrEqualTo(9);
        assertThat(closed.get(closed.size() - 1)).isEqualTo(closed(13, 2));
    }

    /**
     * A machine five minutes ahead is put right, with or without a restart: it reports of times that it has reported
     * of.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void countsNothingTwiceOfASourceWhoseClockIsSetBack(boolean restarted) {
        var agents = new ArrayList<>(
                List.of(Rates.of("a"), Rates.of("b"), Rates.of("ahead").from(MIDNIGHT.plus(Duration.ofMinutes(5)))));
        List<ClosedStep> closed = rounds(agents, 10);

        Rates ahead = agents.get(2);
        agents.set(2, (restarted ? ahead.rebooted("boot-2") : ahead).setBack(Duration.ofMinutes(5)));
        closed.addAll(rounds(agents, 10));

        assertThat(closed).hasSize(20);
        assertThat(closed.subList(5, 20))
                .containsExactlyElementsOf(
                        IntStream.range(5, 20).mapToObj(step -> closed(step, 3)).toList());
    }

    private List<ClosedStep> rounds(List<Rates> sources, int minutes) {
        List<ClosedStep> closed = new ArrayList<>();
        for (int window = 0; window < 4 * minutes; window++) {
            for (Rates source : sources) {
                closed.addAll(feed(source.next(15)));
            }
        }
        return closed;
    }

    @Test
    void countsAWindowOverTheEdgeToBothSidesInProportion() {
        var slow = Rates.of("slow").every(Duration.ofSeconds(90));

        assertThat(feed(slow.next(90))).containsExactly(closed(0, 1));
        assertThat(feed(slow.next(180))).containsExactly(closed(1, (30 + 60) / 60.0), closed(2, 2));
    }

    @Test
    void losesNoRequestWhenItSplitsAWindow() {
        var slow = Rates.of("slow").every(Duration.ofMinutes(7)).from(MIDNIGHT.plusSeconds(17));

        double sum = feed(slow.next(101), slow.next(0)).stream()
                .skip(1)
                .mapToDouble(step -> step.arrivalsPerSecond().getAsDouble() * 60)
                .sum();

        // the first step was covered from second 17 on and stands for a whole one
        assertThat(sum).isEqualTo(101 - 43 * 101 / 420);
    }

    @Test
    void dropsWhatItHasSeenBefore() {
        var gateway = Rates.of("gateway");
        var first = gateway.next(15);
        var second = gateway.next(15);

        assertThat(tracker.add(first)).isEqualTo(Intake.COUNTED);
        assertThat(tracker.add(second)).isEqualTo(Intake.COUNTED);
        assertThat(tracker.add(first)).isEqualTo(Intake.DUPLICATE);
        assertThat(tracker.add(second)).isEqualTo(Intake.DUPLICATE);
        assertThat(feed(gateway.next(15), gateway.next(15))).containsExactly(closed(0, 1));
    }

    @Test
    void takesRecordsOfOneSourceOutOfOrder() {
        var gateway = Rates.of("gateway");
        var first = gateway.next(15);
        var second = gateway.next(30);

        assertThat(tracker.add(second)).isEqualTo(Intake.COUNTED);
        assertThat(tracker.add(first)).isEqualTo(Intake.COUNTED);
        assertThat(feed(gateway.next(15), gateway.next(0))).containsExactly(closed(0, 1));
    }

    @Test
    void startsOverWithARebootedSource() {
        var gateway = Rates.of("gateway");
        var before = List.of(gateway.next(15), gateway.next(15));
        feed(before.get(0), before.get(1));
        var rebooted = gateway.rebooted("boot-2");

        assertThat(tracker.add(rebooted.next(15))).isEqualTo(Intake.COUNTED);
        assertThat(tracker.add(before.get(1))).isEqualTo(Intake.DUPLICATE);
        assertThat(feed(rebooted.next(15))).containsExactly(closed(0, 1));
    }

    @Test
    void saysWhatCameTooLate() {
        var quick = Rates.of("quick").every(Duration.ofMinutes(1));
        var tardy = Rates.of("tardy").every(Duration.ofMinutes(1));
        assertThat(feed(quick.next(60))).containsExactly(closed(0, 1));

        assertThat(tracker.add(tardy.next(60))).isEqualTo(Intake.LATE);
        assertThat(feed(tardy.next(60), quick.next(60))).containsExactly(closed(1, 2));
    }

    @Test
    void closesTheStepInHandWhenTimePassesWithoutAWord() {
        var gateway = Rates.of("gateway");
        feed(gateway.next(15), gateway.next(15), gateway.next(15));
        assertThat(tracker.closesBy())
                .isEqualTo(OptionalLong.of(MIDNIGHT.plusSeconds(90).toEpochMilli() + 1));
        tracker.advanceTo(MIDNIGHT.plusSeconds(90).toEpochMilli());
        assertThat(tracker.close()).isEmpty();

        tracker.advanceTo(MIDNIGHT.plusSeconds(90).toEpochMilli() + 1);

        // 45 arrivals in the 45 seconds that it knows
        assertThat(tracker.close()).containsExactly(closed(0, 1));
        assertThat(tracker.closesBy()).isEmpty();
    }

    @Test
    void callsAStepMissingOfWhichLessThanHalfWasReported() {
        var gateway = Rates.of("gateway");
        feed(gateway.next(15), gateway.next(15), gateway.next(15), gateway.next(15));
        feed(gateway.next(15));

        assertThat(feed(gateway.skip(11).next(15))).containsExactly(missing(1), missing(2), missing(3));
    }

    @Test
    void skipsAGapOfMonthsAtOnce() {
        var gateway = Rates.of("gateway").every(Duration.ofMinutes(1));
        feed(gateway.next(60));
        var later = gateway.from(MIDNIGHT.plus(Duration.ofDays(100)));
        later.skip(1);

        assertThat(feed(later.next(60))).containsExactly(closed(100 * 24 * 60 + 1, 1));
    }

    @Test
    void refusesWhatNoSourceCanHaveMeasured() {
        var endless = Rates.of("gateway").every(Duration.ofHours(2)).next(1);
        var absurd = Rates.of("gateway").next(Long.MAX_VALUE);

        assertThatThrownBy(() -> tracker.add(endless)).hasMessage("window of chat is PT2H, but must be at most PT1H");
        assertThatThrownBy(() -> tracker.add(absurd))
                .hasMessageStartingWith("arrivals of chat are")
                .hasMessageEndingWith("per second, but must be at most 100000000");
    }

    @Test
    void goesOnFromItsSavedState() {
        var left = Rates.of("left");
        var right = Rates.of("right").every(Duration.ofSeconds(40));
        feed(left.next(1), right.next(2), left.next(3), left.next(4));
        var again = new DemandTracker(Duration.ofMinutes(1));
        var out = new StateWriter();

        tracker.save(out);
        var in = new StateReader(out.bytes());
        again.load(in);
        in.end();

        for (RequestRate rate : List.of(left.next(5), right.next(6), left.next(7), right.next(8), left.next(9))) {
            assertThat(again.add(rate)).isEqualTo(tracker.add(rate));
            assertThat(again.close()).isEqualTo(tracker.close());
        }
    }

    private List<ClosedStep> feed(RequestRate... rates) {
        List<ClosedStep> closed = new ArrayList<>();
        for (RequestRate rate : rates) {
            tracker.add(rate);
            closed.addAll(tracker.close());
        }
        return closed;
    }

    private static ClosedStep closed(long step, double arrivalsPerSecond) {
        return new ClosedStep(STEP_ZERO + step, OptionalDouble.of(arrivalsPerSecond));
    }

    private static ClosedStep missing(long step) {
        return new ClosedStep(STEP_ZERO + step, OptionalDouble.empty());
    }
}
