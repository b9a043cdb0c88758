package io.lendstream.forecaster;

import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.demand.RoleCapacity;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.RoleQuantiles;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Rates;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.co.KeyedCoProcessOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ForecastFunctionTest {
    private static final Instant NOW = MIDNIGHT.plus(Duration.ofHours(1));

    private KeyedTwoInputStreamOperatorTestHarness<String, RequestRate, Declared, DemandForecast> harness;

    @BeforeEach
    void start() throws Exception {
        harness = opened(ForecastSettings.DEFAULT);
    }

    @AfterEach
    void stop() throws Exception {
        harness.close();
    }

    @Test
    void forecastsWithTheLastContributorsRecordWhateverTheWatermarkSays() throws Exception {
        var left = Rates.of("left").every(Duration.ofSeconds(30));
        var right = Rates.of("right").every(Duration.ofSeconds(30));
        feed(left.next(30), right.next(60), left.next(30));
        assertThat(forecasts()).isEmpty();

        feed(right.next(60));

        assertThat(forecasts()).singleElement().satisfies(forecast -> {
            assertThat(forecast.issuedAt()).isEqualTo(MIDNIGHT.plusSeconds(60));
            assertThat(forecast.horizons().get(0).p50()).isBetween(2.9, 3.1);
        });
    }

    @Test
    void takesAForecastFromARecordOnlyOnce() throws Exception {
        var gateway = Rates.of("gateway").every(Duration.ofSeconds(30));
        var first = gateway.next(30);
        var second = gateway.next(30);

        feed(first, first, second, second, first);

        assertThat(forecasts()).hasSize(1);
        assertThat(forecasts().get(0).horizons().get(0).p50()).isBetween(0.9, 1.1);
    }

    @Test
    void takesRecordsOutOfOrderAndLeavesOutLateOnes() throws Exception {
        var gateway = Rates.of("gateway").every(Duration.ofSeconds(20));
        var records = List.of(gateway.next(20), gateway.next(20), gateway.next(20));
        feed(records.get(1), records.get(0), records.get(2));
        var late = Rates.of("late").next(15_000);

        feed(late);

        assertThat(forecasts())
                .singleElement()
                .satisfies(
                        forecast -> assertThat(forecast.horizons().get(0).p50()).isBetween(0.9, 1.1));
    }

    @Test
    void closesAStepByEventTimeWhenItsOnlySourceIsSilent() throws Exception {
        var gateway = Rates.of("gateway");
        feed(gateway.next(15), gateway.next(15));
        assertThat(harness.numEventTimeTimers()).isEqualTo(1);
        eventTimeIs(MIDNIGHT.plusSeconds(75));
        assertThat(forecasts()).isEmpty();

        eventTimeIs(MIDNIGHT.plusSeconds(76));

        assertThat(forecasts()).extracting(DemandForecast::issuedAt).containsExactly(MIDNIGHT.plusSeconds(60));
        assertThat(harness.numEventTimeTimers()).isZero();
    }

    @Test
    void forecastsAtOnceWhenDemandLeavesItsBandAndOnlyOnceAWindow() throws Exception {
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 4 * 30; window++) {
            feed(gateway.next(1500));
        }
        int before = forecasts().size();
        var rise = gateway.next(6000);

        feed(rise, rise);

        assertThat(forecasts()).hasSize(before + 1);
        assertThat(forecasts().get(before).issuedAt()).isEqualTo(MIDNIGHT.plusSeconds(30 * 60 + 15));
        assertThat(forecasts().get(before).horizons().get(0).p99()).isGreaterThan(200);
    }

    @Test
    void saysNothingMoreOfAServiceThatIsSilent() throws Exception {
        var gateway = Rates.of("gateway");
        feed(gateway.next(15), gateway.next(15));

        eventTimeIs(MIDNIGHT.plus(Duration.ofDays(3)));

        assertThat(forecasts()).hasSize(1);
        assertThat(harness.numEventTimeTimers()).isZero();
    }

    @Test
    void leavesATimerOfFormerSettingsAlone() throws Exception {
        var gateway = Rates.of("gateway");
        feed(gateway.next(15), gateway.next(15));
        OperatorSubtaskState checkpoint = harness.snapshot(1, 1);
        harness.close();

        harness = harness(new ForecastSettings("ewma", Duration.ofSeconds(30), List.of(Duration.ofSeconds(30))));
        harness.initializeState(checkpoint);
        harness.open();
        eventTimeIs(MIDNIGHT.plus(Duration.ofHours(1)));

        assertThat(forecasts()).isEmpty();
        assertThat(harness.numKeyedStateEntries()).isZero();
    }

    @Test
    void keepsOneTimerAServiceHoweverManyRecordsCome() throws Exception {
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 50; window++) {
            feed(gateway.next(15));
        }

        assertThat(harness.numEventTimeTimers()).isEqualTo(1);
    }

    @Test
    void goesOnFromACheckpointAsIfNothingHadHappened() throws Exception {
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 90; window++) {
            feed(gateway.next(window % 7));
        }
        OperatorSubtaskState checkpoint = harness.snapshot(1, 1);
        var next = List.of(gateway.next(3), gateway.next(4), gateway.next(5));
        feed(next);
        List<DemandForecast> expected = forecasts();
        harness.close();

        harness = harness(ForecastSettings.DEFAULT);
        harness.initializeState(checkpoint);
        harness.open();
        feed(next);

        assertThat(forecasts()).isNotEmpty().isEqualTo(expected.subList(expected.size() - 1, expected.size()));
    }

    @Test
    void resetsForecastsIfTheSettingsHaveChanged() throws Exception {
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 90; window++) {
            feed(gateway.next(15_000));
        }
        OperatorSubtaskState checkpoint = harness.snapshot(1, 1);
        harness.close();

        harness = harness(new ForecastSettings("ewma", Duration.ofSeconds(30), List.of(Duration.ofSeconds(30))));
        harness.initializeState(checkpoint);
        harness.open();
        feed(gateway.next(15), gateway.next(15));

        assertThat(forecasts()).singleElement().satisfies(forecast -> {
            assertThat(forecast.model()).isEqualTo("ewma");
            assertThat(forecast.horizons())
                    .singleElement()
                    .satisfies(line -> assertThat(line.p50()).isBetween(0.9, 1.1));
        });
    }

    @Test
    void forgetsAServiceThatIsGone() throws Exception {
        harness.setProcessingTime(0);
        harness.setStateTtlProcessingTime(0);
        feed(Rates.of("gateway").next(15));
        assertThat(harness.numKeyedStateEntries()).isEqualTo(2);

        harness.setStateTtlProcessingTime(Duration.ofDays(15).toMillis());
        feed(Rates.of("gateway").every(Duration.ofMinutes(2)).next(120));

        assertThat(harness.numKeyedStateEntries())
                .as("what was remembered is gone")
                .isEqualTo(1);
        // counted from nothing: the record before is forgotten, so this one is no duplicate
        assertThat(forecasts())
                .singleElement()
                .satisfies(
                        forecast -> assertThat(forecast.horizons().get(0).p50()).isBetween(0.9, 1.1));
    }

    @Test
    void speaksInGpusByTheDeclarationThatItReadLast() throws Exception {
        var gateway = Rates.of("gateway").every(Duration.ofMinutes(1));
        feed(gateway.next(600));
        declare("chat", new ReplicaCapacity(4, 0));
        declare("search", new ReplicaCapacity(1000, 7));
        feed(gateway.next(600));
        declare("chat", new ReplicaCapacity(0.5, 0));
        feed(gateway.next(600));
        harness.processElement2(new StreamRecord<>(new Declared("chat", Optional.empty())));
        feed(gateway.next(600));

        assertThat(forecasts())
                .extracting(forecast -> forecast.horizons().get(0))
                .satisfiesExactly(
                        undeclared -> assertThat(undeclared.gpus()).isEmpty(),
                        // ten requests/s, of which a replica answers 3.4
                        declared -> assertThat(declared.gpus())
                                .hasValueSatisfying(
                                        gpus -> assertThat(gpus.p50()).isEqualTo(3)),
                        redeclared -> assertThat(redeclared.gpus())
                                .hasValueSatisfying(
                                        gpus -> assertThat(gpus.p50()).isBetween(23, 25)),
                        takenBack -> assertThat(takenBack.gpus()).isEmpty());
    }

    @Test
    void knowsADeclarationStillAfterARestart() throws Exception {
        var gateway = Rates.of("gateway").every(Duration.ofMinutes(1));
        declare("chat", new ReplicaCapacity(4, 2));
        OperatorSubtaskState checkpoint = harness.snapshot(1, 1);
        harness.close();

        harness = harness(ForecastSettings.DEFAULT);
        harness.initializeState(checkpoint);
        harness.open();
        feed(gateway.next(1));

        assertThat(forecasts().get(0).horizons())
                .allSatisfy(line -> assertThat(line.gpus()).contains(new GpuQuantiles(2, 2, 2, 2)));
    }

    @Test
    void forecastsGiveReplicasOfEachDeclaredRoleAlsoAfterARestart() throws Exception {
        var gateway = Rates.of("gateway").every(Duration.ofMinutes(1));
        declare(
                "chat",
                new ReplicaCapacity(
                        1,
                        6,
                        List.of(
                                new RoleCapacity(ReplicaRole.PREFILL, 1000, 2, 2),
                                new RoleCapacity(ReplicaRole.DECODE, 1000, 1, 4))));
        OperatorSubtaskState checkpoint = harness.snapshot(1, 1);
        harness.close();

        harness = harness(ForecastSettings.DEFAULT);
        harness.initializeState(checkpoint);
        harness.open();
        feed(gateway.next(1));
        declare("chat", new ReplicaCapacity(4, 2));
        feed(gateway.next(1));

        assertThat(forecasts().get(0).horizons()).allSatisfy(line -> {
            assertThat(line.roles())
                    .containsExactly(
                            new RoleQuantiles(ReplicaRole.PREFILL, 2, 2, 2, 2),
                            new RoleQuantiles(ReplicaRole.DECODE, 1, 1, 1, 1));
            assertThat(line.gpus()).contains(new GpuQuantiles(8, 8, 8, 8));
        });
        assertThat(forecasts().get(1).horizons())
                .allSatisfy(line -> assertThat(line.roles()).isEmpty());
    }

    @Test
    void saysOfEachHorizonHowItsForecastsHeld() throws Exception {
        var gateway = Rates.of("gateway").every(Duration.ofMinutes(1));
        for (int minute = 0; minute < 10; minute++) {
            feed(gateway.next(600));
        }

        var last = forecasts().get(9);

        assertThat(last.horizons().get(0).recent())
                .hasValueSatisfying(recent -> assertThat(recent.forecasts()).isEqualTo(9));
        assertThat(last.horizons().get(1).recent())
                .hasValueSatisfying(recent -> assertThat(recent.forecasts()).isEqualTo(5));
        assertThat(last.horizons().get(2).recent())
                .as("a quarter of an hour ahead")
                .isEmpty();
        assertThat(last.recentCoverage90()).hasValue(1.0);
    }

    /** As rates tell it; declarations tell none, and are not waited for. */
    private void eventTimeIs(Instant time) throws Exception {
        harness.processWatermarkStatus2(WatermarkStatus.IDLE);
        harness.processWatermark1(new Watermark(time.toEpochMilli()));
    }

    private void declare(String service, ReplicaCapacity capacity) throws Exception {
        harness.processElement2(new StreamRecord<>(new Declared(service, Optional.of(capacity))));
    }

    private void feed(RequestRate... rates) throws Exception {
        feed(List.of(rates));
    }

    private void feed(List<RequestRate> rates) throws Exception {
        for (RequestRate rate : rates) {
            harness.processElement1(new StreamRecord<>(rate, rate.windowEnd().toEpochMilli()));
        }
    }

    private List<DemandForecast> forecasts() {
        return harness.extractOutputValues();
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, RequestRate, Declared, DemandForecast> opened(
            ForecastSettings settings) throws Exception {
        var harness = harness(settings);
        harness.open();
        return harness;
    }

    private static KeyedTwoInputStreamOperatorTestHarness<String, RequestRate, Declared, DemandForecast> harness(
            ForecastSettings settings) throws Exception {
        var harness = new KeyedTwoInputStreamOperatorTestHarness<>(
                new KeyedCoProcessOperator<>(new ForecastFunction(settings, Duration.ofDays(14), true, 1, () -> NOW)),
                (RequestRate rate) -> rate.service().value(),
                Declared::service,
                Types.STRING);
        harness.setup(ForecastSerializer.TYPE.createSerializer(null));
        return harness;
    }
}
