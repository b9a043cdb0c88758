package io.lendstream.core.demand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.RoleQuantiles;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicaCapacityTest {
    private static final Instant NOON = Instant.parse("2026-01-05T12:00:00Z");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final DomainId EAST = new DomainId("east");

    /** 85 % of a replica may be used: 10 requests/s of one are 8.5. */
    @Test
    void aForecastSpeaksInGpusToo() {
        var capacity = ReplicaCapacity.of(service(10, 2));

        DemandForecast told = capacity.inGpus(forecast(0, 8.5, 8.6, 170));

        assertThat(told.horizons()).singleElement().satisfies(line -> {
            assertThat(line.p99()).isEqualTo(170);
            assertThat(line.gpus()).contains(new GpuQuantiles(2, 2, 2, 20));
        });
        assertThat(ReplicaCapacity.of(service(10, 0)).inGpus(told).horizons())
                .extracting(HorizonQuantiles::gpus)
                .as("declared again, without a floor")
                .containsExactly(Optional.of(new GpuQuantiles(0, 1, 2, 20)));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 8.5, 8.5001, 85, 1234.5, 1e7})
    void countsGpusAsTheSchedulerDoes(double p99) {
        var declared = service(10, 3);
        var forecast = forecast(0, 0, 0, p99);
        var known = new ServiceState(declared, Map.of(), List.of(), Optional.of(forecast), 1, Optional.empty());

        int needed = ReplicaNeed.of(known, NOON, Duration.ofMinutes(1), Outlook.CERTAIN)
                .replicas();

        assertThat(ReplicaCapacity.of(declared).gpusFor(p99)).isEqualTo(needed);
    }

    @Test
    void keepsAllElseThatAForecastSays() {
        var forecast = forecast(1, 2, 3, 4);

        var told = ReplicaCapacity.of(service(1, 0)).inGpus(forecast);

        assertThat(told.with(forecast.horizons())).isEqualTo(forecast);
    }

    /** One replica of four GPUs reads 20 requests/s, and one of two GPUs writes 10; 85 % of that may be used. */
    @Test
    void aForecastIsGivenInReplicasOfEachRole() {
        InferenceService chat = service(10, 1)
                .inShapes(List.of(
                        ReplicaShape.of("in", 4, 1, 20, Duration.ofSeconds(8)).as(ReplicaRole.PREFILL),
                        ReplicaShape.of("out", 2, 1, 10, Duration.ofSeconds(8)).as(ReplicaRole.DECODE),
                        ReplicaShape.of("big", 8, 1, 50, Duration.ofSeconds(8)).as(ReplicaRole.DECODE)))
                .withFloors(List.of(new RoleFloor(ReplicaRole.DECODE, 2)));

        HorizonQuantiles line = ReplicaCapacity.of(chat)
                .inGpus(forecast(0, 8.5, 18, 34))
                .horizons()
                .get(0);

        assertThat(line.roles())
                .containsExactly(
                        new RoleQuantiles(ReplicaRole.PREFILL, 1, 1, 2, 2),
                        new RoleQuantiles(ReplicaRole.DECODE, 2, 2, 3, 4));
        assertThat(line.gpus()).contains(new GpuQuantiles(8, 8, 14, 16));
        assertThat(ReplicaCapacity.of(service(10, 1)).roles()).isEmpty();
    }

    @Test
    void refusesReplicasThatAnswerNothing() {
        assertThatThrownBy(() -> new ReplicaCapacity(0, 0)).hasMessageContaining("above 0, but was 0.0");
        assertThatThrownBy(() -> new ReplicaCapacity(Double.POSITIVE_INFINITY, 0))
                .hasMessageContaining("finite number");
        assertThatThrownBy(() -> new ReplicaCapacity(1, -1)).hasMessageContaining("at least 0 replicas, but was -1");
        assertThatThrownBy(() -> new GpuQuantiles(1, 3, 2, 4)).hasMessageContaining("must not cross");
        assertThatThrownBy(() -> new RoleQuantiles(ReplicaRole.ALL, 1, 3, 2, 4)).hasMessageContaining("must not cross");
    }

    private static InferenceService service(double perSecond, int floor) {
        return new InferenceService(
                CHAT,
                EAST,
                NOON,
                List.of(),
                Duration.ofMillis(500),
                perSecond,
                Optional.empty(),
                floor,
                Duration.ofSeconds(8));
    }

    private static DemandForecast forecast(double p10, double p50, double p90, double p99) {
        return new DemandForecast(
                CHAT,
                EAST,
                NOON,
                Duration.ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(Duration.ofMinutes(5), p10, p50, p90, p99)),
                Optional.of(0.1),
                Optional.of(0.9));
    }
}
