package io.lendstream.agent.rates;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.latency.BatchCounter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An endpoint that is read at second 0, 10, 20, ... */
class WindowsTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Preset COUNTING = preset("arrivals", "in_total", "completions", "out_total");
    private static final Preset ANSWERING = preset(
            "completions",
            "out_total{code=\"200\"}",
            "finished",
            "out_total",
            "in-flight",
            "running",
            "queue",
            "waiting");

    private Windows windows = windows(COUNTING);

    @Test
    void theFirstReadingOnlySetsWhereCountingStarts() {
        assertThat(windows.upTo(at(0, p("in_total", 1000), p("out_total", 990))))
                .isEmpty();
    }

    @Test
    void aWindowHasWhatCountersGrewBy() {
        windows.upTo(at(0, p("in_total", 1000), p("out_total", 990)));

        RequestRate rate = only(windows.upTo(at(10, p("in_total", 1250), p("out_total", 1230))));

        assertThat(rate.requests().arrivals()).isEqualTo(250);
        assertThat(rate.requests().completions()).isEqualTo(240);
        assertThat(rate.windowStart()).isEqualTo(NOON);
        assertThat(rate.windowEnd()).isEqualTo(NOON.plusSeconds(10));
        assertThat(rate.service()).isEqualTo(new ServiceId("chat"));
        assertThat(rate.sequence()).isEqualTo(1);
    }

    /** Clocks tell more than the milliseconds that records have. */
    @Test
    void aWindowBeginsWhereTheLastOneEndedToTheMicrosecond() {
        Instant start = NOON.plusNanos(900_000);
        Instant middle = start.plusSeconds(10).minusNanos(200_000);
        windows.upTo(EndpointReading.of(start, 0, List.of(p("in_total", 0))));

        RequestRate first = only(windows.upTo(EndpointReading.of(middle, 9_999_800_000L, List.of(p("in_total", 10)))));
        RequestRate second = only(
                windows.upTo(EndpointReading.of(start.plusSeconds(20), 20_000_000_000L, List.of(p("in_total", 20)))));

        assertThat(first.windowEnd()).isEqualTo(middle).isEqualTo(second.windowStart());
    }

    @Test
    void readingsThatComeTooSoonAreLeftForTheNextWindow() {
        windows.upTo(at(0, p("in_total", 0)));

        assertThat(windows.upTo(at(4, p("in_total", 40)))).isEmpty();
        RequestRate rate = only(windows.upTo(at(8, p("in_total", 80))));

        assertThat(rate.requests().arrivals()).isEqualTo(80);
        assertThat(rate.window()).hasSeconds(8);
    }

    @Test
    void aReadingThatFailsMakesTheNextWindowLonger() {
        windows.upTo(at(0, p("in_total", 0)));

        RequestRate rate = only(windows.upTo(at(20, p("in_total", 200))));

        assertThat(rate.window()).hasSeconds(20);
        assertThat(rate.requests().arrivals()).isEqualTo(200);
    }

    @Test
    void aLongGapIsSplitIntoWindowsWithoutLosingAnArrival() {
        windows.upTo(at(0, p("in_total", 0), p("out_total", 0)));

        List<Window> told = windows.upTo(at(150, p("in_total", 100), p("out_total", 7)));

        assertThat(told)
                .hasSize(3)
                .allSatisfy(window -> assertThat(window.remarks()).contains(Window.Remark.SPREAD));
        assertThat(told.stream()
                        .mapToLong(window -> window.rate().requests().arrivals())
                        .sum())
                .isEqualTo(100);
        assertThat(told.stream()
                        .mapToLong(window -> window.rate().requests().completions())
                        .sum())
                .isEqualTo(7);
        assertThat(told.get(0).rate().windowStart()).isEqualTo(NOON);
        assertThat(told.get(1).rate().windowStart())
                .isEqualTo(told.get(0).rate().windowEnd());
        assertThat(told.get(2).rate().windowEnd()).isEqualTo(NOON.plusSeconds(150));
        assertThat(told).extracting(window -> window.rate().sequence()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void afterAnHourCountersAreRebaselined() {
        windows.upTo(at(0, p("in_total", 0)));

        assertThat(windows.upTo(at(3700, p("in_total", 1_000_000)))).isEmpty();
        assertThat(only(windows.upTo(at(3710, p("in_total", 1_000_010))))
                        .requests()
                        .arrivals())
                .isEqualTo(10);
    }

    @Test
    void aRestartedServerCountsFromZeroWithARemark() {
        windows.upTo(at(0, p("in_total", 1000)));

        List<Window> told = windows.upTo(at(10, p("in_total", 30)));

        assertThat(only(told).requests().arrivals()).isEqualTo(30);
        assertThat(told.get(0).remarks()).contains(Window.Remark.RESTARTED);
    }

    @Test
    void aSeriesThatIsNewHasBegunAtZero() {
        windows.upTo(at(0, p("in_total", 10)));

        RequestRate rate = only(windows.upTo(
                at(10, p("in_total", 10), new Point("in_total", Map.of("model", "chat", "code", "500"), 5))));

        assertThat(rate.requests().arrivals()).isEqualTo(5);
    }

    @Test
    void whereOnlyAnswersCountArrivalsAreTheyAndWhatMoreIsInside() {
        windows = windows(ANSWERING);
        windows.upTo(at(0, out(200, 100), out(503, 1), p("running", 2), p("waiting", 0)));

        List<Window> told = windows.upTo(at(10, out(200, 150), out(503, 4), p("running", 4), p("waiting", 5)));

        assertThat(only(told).requests().completions()).isEqualTo(50);
        assertThat(only(told).requests().arrivals()).isEqualTo(50 + 3 + 2 + 5);
        assertThat(only(told).requests().inFlight()).isEqualTo(4);
        assertThat(only(told).requests().queueDepth()).isEqualTo(5);
        assertThat(told.get(0).remarks()).containsExactly(Window.Remark.ARRIVALS_DERIVED);
    }

    @Test
    void derivedArrivalsAreNeverNegativeAndTheirSumIsRight() {
        windows = windows(ANSWERING);
        windows.upTo(at(0, out(200, 100), p("waiting", 9)));

        RequestRate first = only(windows.upTo(at(10, out(200, 101), p("waiting", 0))));
        RequestRate second = only(windows.upTo(at(20, out(200, 120), p("waiting", 1))));

        assertThat(first.requests().arrivals()).isZero();
        assertThat(second.requests().arrivals()).isEqualTo(20 - 8);
    }

    @Test
    void servicesAreDistinguishedByTheirLabel() {
        windows.upTo(at(0));

        List<Window> told = windows.upTo(at(
                10,
                p("in_total", 3),
                new Point("in_total", Map.of("model", "rank"), 4),
                new Point("in_total", Map.of(), 5)));

        assertThat(told)
                .extracting(window -> window.rate().service().value() + " "
                        + window.rate().requests().arrivals())
                .containsExactly("chat 3", "rank 4");
    }

    @Test
    void siteNamesReplaceServersNames() {
        var names =
                new ServiceNames(Map.of("chat", new ServiceId("assistant")), Optional.of(new ServiceId("rest")), true);
        windows =
                new Windows(COUNTING, names, new DomainId("d"), "node", "boot", Duration.ofSeconds(60), ServedOn.WHOLE);
        windows.upTo(at(0));

        List<Window> told = windows.upTo(at(
                10,
                p("in_total", 3),
                new Point("in_total", Map.of("model", "rank"), 4),
                new Point("in_total", Map.of(), 5)));

        assertThat(told)
                .extracting(window -> window.rate().service().value() + " "
                        + window.rate().requests().arrivals())
                .containsExactly("assistant 3", "rest 5");
    }

    @Test
    void quantilesAreThoseOfTheWindowAloneWithinTheirBar() {
        windows = windows(
                preset("arrivals", "in_total", "completions", "out_total", "latency", "took", "latency-unit", "ms"));
        windows.upTo(at(0, p("in_total", 0), bar("100", 1000), bar("200", 1000), bar("+Inf", 1000)));

        RequestRate rate =
                only(windows.upTo(at(10, p("in_total", 100), bar("100", 1050), bar("200", 1100), bar("+Inf", 1100))));

        assertThat(rate.latency().p50LatencySeconds()).hasValue(0.1);
        assertThat(rate.latency().p99LatencySeconds())
                .hasValueSatisfying(
                        p99 -> assertThat(p99).isEqualTo(0.198, org.assertj.core.api.Assertions.within(1e-9)));
    }

    @Test
    void aQuantileAboveTheLastBoundIsThatBoundWithARemark() {
        windows = windows(preset("arrivals", "in_total", "latency", "took"));
        windows.upTo(at(0, p("in_total", 0), bar("1", 0), bar("+Inf", 0)));

        List<Window> told = windows.upTo(at(10, p("in_total", 10), bar("1", 9), bar("+Inf", 10)));

        assertThat(only(told).latency().p99LatencySeconds()).hasValue(1.0);
        assertThat(told.get(0).remarks()).containsExactly(Window.Remark.P99_BEYOND_HISTOGRAM);
    }

    @Test
    void withoutAnAnswerThereIsNoLatency() {
        windows = windows(preset("arrivals", "in_total", "latency", "took"));
        windows.upTo(at(0, p("in_total", 0), bar("1", 5), bar("+Inf", 5)));

        assertThat(only(windows.upTo(at(10, p("in_total", 3), bar("1", 5), bar("+Inf", 5))))
                        .latency()
                        .p99LatencySeconds())
                .isEmpty();
    }

    @Test
    void inputSizesAreThoseOfTheWindow() {
        windows = windows(preset("arrivals", "in_total", "sizes", "took"));
        windows.upTo(at(0, p("in_total", 0), bar("10", 5), bar("20", 5), bar("+Inf", 5)));

        assertThat(only(windows.upTo(at(10, p("in_total", 9), bar("10", 6), bar("20", 9), bar("+Inf", 10))))
                        .inputSizes())
                .containsExactly(new SizeCount(10, 1), new SizeCount(20, 3 + 1));
    }

    @Test
    void batchesAreReportedOnceWithTheirInstance() {
        windows = new Windows(
                COUNTING,
                ServiceNames.AS_LABELLED,
                new DomainId("d"),
                "node",
                "boot",
                Duration.ofSeconds(60),
                new ServedOn(Optional.of("3g.40gb"), Optional.of(new KindId("A100-SXM4-80GB"))));
        windows.upTo(at(0, p("in_total", 0)).with(Map.of("chat", Map.of(4, batches(10, 50)))));

        assertThat(only(windows.upTo(at(10, p("in_total", 20)).with(Map.of("chat", Map.of(4, batches(15, 100))))))
                        .batches())
                .containsExactly(
                        new BatchTimes(Optional.of("3g.40gb"), 4, 0, 5, 10.0).on(new KindId("A100-SXM4-80GB")));
    }

    @Test
    void aClockThatIsSetDoesNotChangeHowLongAWindowIs() {
        windows.upTo(at(0, p("in_total", 0)));

        List<Window> told = windows.upTo(EndpointReading.of(
                NOON.minusSeconds(3600), Duration.ofSeconds(10).toNanos(), List.of(p("in_total", 100))));

        assertThat(only(told).window()).hasSeconds(10);
        assertThat(told.get(0).remarks()).contains(Window.Remark.CLOCK_SET);
    }

    @Test
    void whatIsNoNumberIsAsGoodAsAbsent() {
        windows.upTo(at(0, p("in_total", 0), p("out_total", Double.NaN)));

        assertThat(only(windows.upTo(at(10, p("in_total", 4), p("out_total", Double.NaN))))
                        .requests()
                        .completions())
                .isZero();
    }

    private static BatchCounter batches(long count, long millis) {
        var phase = new BatchCounter.Phase(count, millis * 1_000_000);
        return new BatchCounter(new BatchCounter.Phase(0, 0), phase, new BatchCounter.Phase(0, 0));
    }

    private static RequestRate only(List<Window> windows) {
        assertThat(windows).hasSize(1);
        return windows.get(0).rate();
    }

    private static Windows windows(Preset preset) {
        return new Windows(
                preset,
                ServiceNames.AS_LABELLED,
                new DomainId("d"),
                "node/host:1",
                "boot",
                Duration.ofSeconds(60),
                ServedOn.WHOLE);
    }

    private static Preset preset(String... settings) {
        var all = new java.util.TreeMap<String, String>();
        all.put("service", "model");
        for (int i = 0; i < settings.length; i += 2) {
            all.put(settings[i], settings[i + 1]);
        }
        return Preset.of("test", all);
    }

    private static EndpointReading at(long second, Point... points) {
        return EndpointReading.of(
                NOON.plusSeconds(second), Duration.ofSeconds(second).toNanos(), new ArrayList<>(List.of(points)));
    }

    private static Point p(String name, double value) {
        return new Point(name, Map.of("model", "chat"), value);
    }

    private static Point out(int code, double value) {
        return new Point("out_total", Map.of("model", "chat", "code", String.valueOf(code)), value);
    }

    private static Point bar(String bound, double value) {
        return new Point("took_bucket", Map.of("model", "chat", "le", bound), value);
    }
}
