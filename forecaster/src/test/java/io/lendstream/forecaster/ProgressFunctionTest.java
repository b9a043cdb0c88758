package io.lendstream.forecaster;

import static io.lendstream.core.forecast.Rates.MIDNIGHT;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.Progress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProgressFunctionTest {
    private KeyedOneInputStreamOperatorTestHarness<String, DemandForecast, Progress> harness;

    @BeforeEach
    void start() throws Exception {
        harness = new KeyedOneInputStreamOperatorTestHarness<>(
                new KeyedProcessOperator<>(new ProgressFunction(Duration.ofDays(14))),
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
