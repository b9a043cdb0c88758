package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Sightings.at;
import static io.lendstream.simulator.report.Sightings.binding;
import static io.lendstream.simulator.report.Sightings.decision;
import static io.lendstream.simulator.report.Sightings.finished;
import static io.lendstream.simulator.report.Sightings.forecast;
import static io.lendstream.simulator.report.Sightings.hold;
import static io.lendstream.simulator.report.Sightings.job;
import static io.lendstream.simulator.report.Sightings.lease;
import static io.lendstream.simulator.report.Sightings.lend;
import static io.lendstream.simulator.report.Sightings.lent;
import static io.lendstream.simulator.report.Sightings.rate;
import static io.lendstream.simulator.report.Sightings.reclaim;
import static io.lendstream.simulator.report.Sightings.releasing;
import static io.lendstream.simulator.report.Sightings.serving;
import static io.lendstream.simulator.report.Sightings.slot;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.report.ReportedRun.ForecastPoint;
import io.lendstream.simulator.report.ReportedRun.KindCount;
import io.lendstream.simulator.report.ReportedRun.OwnerSample;
import io.lendstream.simulator.report.ReportedRun.Point;
import io.lendstream.simulator.report.ReportedRun.ServiceFacts;
import io.lendstream.simulator.report.ReportedRun.Turnover;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FactsCollectorTest {
    private final FactsCollector collector = new FactsCollector("run", true);

    @Test
    void downSamplesALongRunAndKeepsItsPeaks() {
        for (int window = 1; window <= 40_000; window++) {
            collector.take(rate("chat", "gateway", window, window * 15.0, window == 12_345 ? 15_000 : 150));
        }

        ServiceFacts chat = collector.facts().services().get(0);

        assertThat(chat.demand()).hasSizeBetween(250, Bins.MOST);
        assertThat(chat.demand()).extracting(Point::peak).containsOnlyOnce(1000.0);
        assertThat(chat.demand().stream().mapToDouble(Point::mean).average().orElseThrow())
                .isCloseTo(10 + 990 / 40_000.0, within(0.05));
    }

    @Test
    void countsEveryGpuOnceAtAnyTime() {
        collector.take(lease("a", new Owner.Free(), 0));
        collector.take(lease("b", new Owner.Free(), 0));
        collector.take(lease("a", lent("job"), 10));
        collector.take(lease("b", serving("chat"), 10));
        collector.take(lease("a", new Owner.Quarantined("XID 79"), 20));
        collector.seenAt(at(30));

        ReportedRun run = collector.facts();

        assertThat(run.owners()).hasSize(30);
        assertThat(run.owners())
                .allSatisfy(sample -> assertThat(sample.gpus().values().stream()
                                .mapToDouble(Double::doubleValue)
                                .sum())
                        .isEqualTo(2));
        assertThat(run.owners().get(5))
                .extracting(sample -> sample.of(OwnerGroup.FREE))
                .isEqualTo(2.0);
        assertThat(run.owners().get(15))
                .extracting(sample -> sample.of(OwnerGroup.LENT))
                .isEqualTo(1.0);
        assertThat(run.owners().get(25))
                .extracting(sample -> sample.of(OwnerGroup.QUARANTINED))
                .isEqualTo(1.0);
        assertThat(run.services().get(0).replicas())
                .last()
                .extracting(Point::peak)
                .isEqualTo(1.0);
    }

    @Test
    void countsNoGpuTwiceWhenALeaseArrivesLate() {
        collector.take(lease("a", new Owner.Free(), 0));
        collector.take(lease("b", new Owner.Free(), 0));
        collector.take(lease("a", lent("job"), 20));
        collector.take(lease("b", serving("chat"), 10));
        collector.seenAt(at(30));

        assertThat(collector.facts().owners())
                .hasSize(30)
                .allSatisfy(sample -> assertThat(sample.gpus().values().stream()
                                .mapToDouble(Double::doubleValue)
                                .sum())
                        .isEqualTo(2));
    }

    @Test
    void forgetsAGpuThatIsGone() {
        collector.take(lease("a", serving("chat"), 0));
        collector.gone(new GpuId("a"), at(10));
        collector.seenAt(at(20));

        List<OwnerSample> owners = collector.facts().owners();

        assertThat(owners.get(9).of(OwnerGroup.SERVING)).isEqualTo(1);
        assertThat(owners.get(15).of(OwnerGroup.SERVING)).isZero();
    }

    /** The records of an exchange may be read in any order, also after later ones of one of the two GPUs. */
    @ParameterizedTest
    @ValueSource(strings = {"begun, ended, over", "ended, begun, over", "begun, over, ended"})
    void aLoanThatIsExchangedIsOneLoan(String order) {
        collector.take(slot("a", new Owner.Free(), 0, 1));
        collector.take(slot("b", lent("job"), 0, 1));
        for (String record : order.split(", ", -1)) {
            collector.take(
                    switch (record) {
                        case "begun" -> slot("a", lent("job"), 1800, 2);
                        case "ended" -> slot("b", new Owner.Free(), 1800, 2);
                        default -> slot("a", new Owner.Free(), 3600, 3);
                    });
        }
        collector.seenAt(at(3600));

        ReportedRun.Loans loans = collector.facts().loans();

        boolean isLate = order.endsWith("ended"); // a late lease changes the sums only then
        assertThat(loans.gpuHours()).isCloseTo(isLate ? 1.5 : 1.0, within(1e-9));
        assertThat(loans.ended()).isEqualTo(1);
        assertThat(loans.open()).isZero();
        assertThat(loans.meanSeconds()).isEqualTo(3600);
        assertThat(loans.longestSeconds()).isEqualTo(3600);
    }

    @Test
    void aLoanThatEndsWhenAnotherOfItsJobBeginsIsNotTheSame() {
        collector.take(slot("a", binding("job"), 0, 1));
        collector.take(slot("b", lent("job"), 0, 1));
        collector.take(slot("a", lent("job"), 1800, 2));
        collector.take(slot("b", releasing("job"), 1800, 2));
        collector.take(slot("a", new Owner.Free(), 3600, 3));

        assertThat(collector.facts().loans().ended()).isEqualTo(2);
        assertThat(collector.facts().loans().meanSeconds()).isEqualTo(1800);
    }

    @Test
    void withoutSlotsEachLoanIsOnItsOwnGpu() {
        collector.take(lease("b", lent("job"), 0));
        collector.take(lease("b", new Owner.Free(), 1800));
        collector.take(lease("a", lent("job"), 1800));
        collector.take(lease("a", new Owner.Free(), 3600));

        assertThat(collector.facts().loans().ended()).isEqualTo(2);
    }

    @Test
    void loansOfALongRunAreAllCounted() {
        for (int loan = 0; loan < 3000; loan++) {
            collector.take(lease("a", lent("job"), 20.0 * loan));
            collector.take(lease("a", new Owner.Free(), 20.0 * loan + (loan == 100 ? 15 : 10)));
        }

        ReportedRun.Loans loans = collector.facts().loans();

        assertThat(loans.ended()).isEqualTo(3000);
        assertThat(loans.meanSeconds()).isCloseTo(10 + 5 / 3000.0, within(1e-9));
        assertThat(loans.longestSeconds()).isEqualTo(15);
    }

    @Test
    void sumsUpWhatWasLent() {
        collector.take(lease("a", new Owner.Free(), 0));
        collector.take(lease("b", new Owner.Free(), 0));
        collector.take(lease("a", lent("job"), 0));
        collector.take(lease("b", lent("job"), 1800));
        collector.take(lease("a", lent("job"), 0));
        collector.take(lease("a", new Owner.Free(), 3600));
        collector.seenAt(at(5400));

        ReportedRun.Loans loans = collector.facts().loans();

        assertThat(loans.gpuHours()).isCloseTo(2.0, within(1e-9));
        assertThat(loans.ended()).isEqualTo(1);
        assertThat(loans.open()).isEqualTo(1);
        assertThat(loans.meanSeconds()).isEqualTo(3600);
    }

    @Test
    void addsTheSourcesOfAService() {
        for (int window = 1; window <= 2; window++) {
            collector.take(rate("chat", "gateway-1", window, window * 15.0, 150));
            collector.take(rate("chat", "gateway-2", window, window * 15.0, 300));
        }

        ReportedRun run = collector.facts();

        assertThat(run.services().get(0).demand()).extracting(Point::peak).containsOnly(30.0);
        assertThat(run.inference().requests()).isEqualTo(900);
    }

    @Test
    void takesARepeatedWindowOnce() {
        collector.take(rate("chat", "gateway", 1, 15, 150));
        collector.take(rate("chat", "gateway", 1, 15, 150));

        ReportedRun run = collector.facts();

        assertThat(run.inference().requests()).isEqualTo(150);
        assertThat(run.services().get(0).demand()).extracting(Point::peak).containsOnly(10.0);
    }

    @Test
    void showsWhatHadBeenForecastForATimeAtTheTimeItIsAbout() {
        collector.take(forecast("chat", 60, 10, 20));
        collector.seenAt(at(360));

        ServiceFacts chat = collector.facts().services().get(0);

        assertThat(chat.forecastLead()).contains(Duration.ofMinutes(5));
        assertThat(chat.forecast()).first().isEqualTo(new ForecastPoint(at(300), 10, 20));
        assertThat(chat.forecast()).last().isEqualTo(new ForecastPoint(at(359), 10, 20));
    }

    @Test
    void measuresJobsFromSubmissionToCompletion() {
        collector.take(job("a", 100));
        collector.take(job("b", 200));
        collector.take(finished("a", 400));
        collector.take(job("a", 100));
        collector.take(finished("a", 500));

        ReportedRun.Training training = collector.facts().training();

        assertThat(training.submitted()).isEqualTo(2);
        assertThat(training.completed()).isEqualTo(1);
        assertThat(training.completionSeconds()).containsExactly(300.0);
    }

    @Test
    void countsDecisionsByKindAndRemembersBothEnds() {
        collector.take(decision(1, 0, lend("job", "a", "b"), "plan", "first"));
        for (int i = 2; i <= 500; i++) {
            collector.take(decision(i, i, hold("chat"), "enough", "no change"));
        }
        collector.take(decision(501, 501, reclaim("job", "a"), "demand", "last"));

        ReportedRun run = collector.facts();

        assertThat(run.decisions().total()).isEqualTo(501);
        assertThat(run.decisions().kinds())
                .containsExactly(
                        new KindCount("hold", 499, 0, Map.of("enough", 499L)),
                        new KindCount("lend", 1, 2, Map.of("plan", 1L)),
                        new KindCount("reclaim", 1, 1, Map.of("demand", 1L)));
        assertThat(run.decisions().first())
                .hasSize(100)
                .first()
                .satisfies(each -> assertThat(each.reason().text()).isEqualTo("first"));
        assertThat(run.decisions().last())
                .hasSize(100)
                .last()
                .satisfies(each -> assertThat(each.reason().text()).isEqualTo("last"));
        assertThat(run.loans().turnover()).containsExactly(new Turnover(at(0), 2, 0), new Turnover(at(501), 0, 1));
    }

    @Test
    void countsARestartWhenAJobThatRanStartsFromACheckpoint() {
        collector.take(decision(1, 0, lend("job", "a"), "plan", "start"));
        collector.take(decision(2, 10, lend("job", "a", "b"), "plan", "grow"));

        assertThat(collector.facts().training().restarts()).contains(1);
    }

    @Test
    void mayBeAskedAgainAndAgain() {
        collector.take(lease("a", lent("job"), 0));
        collector.take(rate("chat", "gateway", 1, 15, 150));

        ReportedRun early = collector.facts();
        ReportedRun again = collector.facts();
        collector.take(rate("chat", "gateway-2", 1, 15, 150));
        ReportedRun late = collector.facts();

        assertThat(again).isEqualTo(early);
        assertThat(late.services().get(0).demand()).extracting(Point::peak).containsOnly(20.0);
    }

    @Test
    void quantilesInterpolateBetweenNeighbours() {
        assertThat(Delays.of(List.of(4.0, 1.0, 3.0, 2.0))).hasValueSatisfying(delays -> {
            assertThat(delays.meanSeconds()).isEqualTo(2.5);
            assertThat(delays.p99Seconds()).isCloseTo(3.97, within(1e-9));
            assertThat(delays.maxSeconds()).isEqualTo(4);
        });
    }
}
