package io.lendstream.forecaster;

import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RecentCoverage;
import io.lendstream.core.event.RoleQuantiles;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class ForecastSerializerTest {
    @Test
    void bringsAForecastWithAllThatItSaysToAnotherTask() throws Exception {
        DemandForecast young = forecast(Optional.empty(), Optional.empty());
        DemandForecast judged = forecast(Optional.of(0.25), Optional.of(1.0));

        assertThat(again(young)).isEqualTo(young);
        assertThat(again(judged)).isEqualTo(judged);
    }

    private static DemandForecast forecast(Optional<Double> error, Optional<Double> coverage) {
        return new DemandForecast(
                new ServiceId("chat"),
                new DomainId("east"),
                MIDNIGHT,
                Duration.ofMinutes(1),
                "ewma",
                List.of(
                        new HorizonQuantiles(Duration.ofMinutes(1), 1, 2, 3, 4),
                        new HorizonQuantiles(
                                Duration.ofMinutes(5),
                                0,
                                2.5,
                                3.5,
                                4.5,
                                Optional.of(new GpuQuantiles(1, 2, 3, 4)),
                                Optional.of(new RecentCoverage(0.875, 0.9921875, 128)),
                                List.of(
                                        new RoleQuantiles(ReplicaRole.PREFILL, 1, 1, 2, 2),
                                        new RoleQuantiles(ReplicaRole.DECODE, 1, 2, 3, 4)))),
                error,
                coverage);
    }

    private static DemandForecast again(DemandForecast forecast) throws Exception {
        var serializer = new ForecastSerializer();
        var out = new DataOutputSerializer(64);
        serializer.serialize(forecast, out);
        return serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    }
}
