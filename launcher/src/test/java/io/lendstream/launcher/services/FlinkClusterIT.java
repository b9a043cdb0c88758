package io.lendstream.launcher.services;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.Installation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The forecaster as a job on a Flink cluster: job manager and task managers are processes that may be killed. */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
final class FlinkClusterIT {
    private static final Duration STEP = Duration.ofSeconds(1);
    private static final List<ServiceId> SERVICES =
            Stream.of("chat", "search", "translate").map(ServiceId::new).toList();

    private final Deployment deployment = new Deployment(2);

    @TempDir
    private Path directory;

    @AfterEach
    void stop() {
        deployment.close();
    }

    @Test
    void forecastsGoOnWithoutGapOrContradictionWhenATaskManagerIsKilled() throws Exception {
        Path forecaster = Installation.find().home().resolve("forecaster/target");
        try (var cluster = new FlinkCluster(forecaster, directory)) {
            Process victim = cluster.startTaskManager("first");
            cluster.awaitTaskManagers(1);
            String job = cluster.submit(
                    forecaster.resolve("flink/lendstream-forecaster-job.jar"),
                    deployment.with(
                            "--set", "forecaster.step=1s",
                            "--set", "forecaster.horizons=1s,5s",
                            "--set", "forecaster.parallelism=2",
                            "--set", "forecaster.checkpoint-interval=1s",
                            "--set", "forecaster.state-backend=rocksdb",
                            "--set", "forecaster.state-dir=" + Files.createDirectory(directory.resolve("state"))));
            try (var gateway = new SteadyGateway(deployment.kafka(), STEP, SERVICES)) {
                gateway.start();
                awaitForecastsUntil(Instant.now().plusSeconds(5));

                victim.destroyForcibly().waitFor();
                cluster.startTaskManager("second");
                Instant killed = Instant.now();
                awaitForecastsUntil(killed.plusSeconds(5));
                System.out.printf(
                        "forecasts of %s were readable %d ms after the kill%n",
                        killed.plusSeconds(5),
                        Duration.between(killed, Instant.now()).toMillis());
            }

            assertThat(cluster.restored(job)).isPositive();
            SERVICES.forEach(this::assertEveryStepIsThereOnce);
        }
    }

    /** As a consumer sees it that takes forecasts by service and time of issue, as ours do. */
    private void assertEveryStepIsThereOnce(ServiceId service) {
        Map<Instant, List<DemandForecast>> byTime = deployment.read(TopicCatalogue.DEMAND_FORECASTS).stream()
                .filter(forecast -> forecast.service().equals(service))
                .collect(groupingBy(DemandForecast::issuedAt, TreeMap::new, toList()));
        assertThat(byTime.values()).allSatisfy(same -> assertThat(same).containsOnly(same.get(0)));
        List<Instant> times = List.copyOf(byTime.keySet());
        assertThat(times)
                .containsExactlyElementsOf(Stream.iterate(times.get(0), at -> at.plus(STEP))
                        .limit(times.size())
                        .toList());
    }

    private void awaitForecastsUntil(Instant time) {
        await().atMost(Deployment.PATIENCE.plus(Deployment.PATIENCE))
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(deployment.read(TopicCatalogue.DEMAND_FORECASTS).stream()
                                .filter(forecast -> forecast.issuedAt().isAfter(time))
                                .map(DemandForecast::service))
                        .containsAll(SERVICES));
    }
}
