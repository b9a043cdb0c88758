package io.lendstream.forecaster;

import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.Progress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProgressFunctionTest {
    private static final Duration FORGET_AFTER = Duration.ofDays(14);

    private KeyedOneInputStreamOperatorTestHarness<String, DemandForecast, Progress> harness;

    @BeforeEach
    void start() throws Exception {
        harness = new KeyedOneInputStreamOperatorTestHarness<>(
                new KeyedProcessOperator<>(new ProgressFunction(FORGET_AFTER)),
                forecast -> forecast.domain().value(),
                Types.STRING);
        harness.open();
    }

    @AfterEach
    void stop() throws Exception {
        harness.close();
    }

    @Test
    void hasGotAsFarAsTheServiceThatIsFarthestBehind() throws Exception {
        feed("chat", 1);
        feed("search", 1);
        feed("chat", 2);
        feed("search", 2);
        feed("search", 2);

        assertThat(minutes()).containsExactly(1, 2);
        assertThat(harness.extractOutputValues().get(0).service()).isEqualTo("forecaster");
    }

    @Test
    void doesNotWaitForAServiceThatIsGone() throws Exception {
        feed("gone", 1);
        for (int minute = 1; minute <= 13; minute++) {
            feed("chat", minute);
        }

        assertThat(minutes()).containsExactly(1, 12, 13);
    }

    @Test
    void dropsServicesThatAreForgottenOnceAnHour() throws Exception {
        harness.setStateTtlProcessingTime(0);
        feed("gone", 1);
        feed("chat", 1);
        harness.setStateTtlProcessingTime(FORGET_AFTER.toMillis() + 1);

        for (int minute = 2; minute < 60; minute++) {
            feed("chat", minute);
        }
        assertThat(held()).containsExactlyInAnyOrder("gone", "chat");

        harness.setStateTtlProcessingTime(FORGET_AFTER.toMillis() + 1);
        feed("chat", 60);
        assertThat(held()).containsExactly("chat");
    }

    @Test
    void keepsServicesThatAreNotForgottenYetThroughTheHour() throws Exception {
        harness.setStateTtlProcessingTime(0);
        feed("resting", 1);
        harness.setStateTtlProcessingTime(FORGET_AFTER.toMillis() - 1);

        for (int minute = 1; minute <= 60; minute++) {
            feed("chat", minute);
        }

        assertThat(held()).containsExactlyInAnyOrder("resting", "chat");
    }

    /**
     * The services that take up memory, forgotten or not: seen with the clock set back, nothing is too old to be
     * seen.
     */
    private List<String> held() throws Exception {
        var operator = (AbstractStreamOperator<?>) harness.getOperator();
        KeyedStateBackend<String> state = operator.getKeyedStateBackend();
        state.setCurrentKey("east");
        MapState<String, Long> latest = state.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new MapStateDescriptor<>("latest", Types.STRING, Types.LONG));
        harness.setStateTtlProcessingTime(0);
        List<String> services = new ArrayList<>();
        latest.keys().forEach(services::add);
        return services;
    }

    private List<Integer> minutes() {
        return harness.extractOutputValues().stream()
                .map(progress ->
                        (int) Duration.between(MIDNIGHT, progress.eventTime()).toMinutes())
                .toList();
    }

    private void feed(String service, int minute) throws Exception {
        var forecast = new DemandForecast(
                new ServiceId(service),
                new DomainId("east"),
                MIDNIGHT.plus(Duration.ofMinutes(minute)),
                Duration.ofMinutes(1),
                "ewma",
                List.of(new HorizonQuantiles(Duration.ofMinutes(1), 1, 2, 3, 4)),
                Optional.empty(),
                Optional.empty());
        harness.processElement(forecast, forecast.issuedAt().toEpochMilli());
    }
}
