package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.ServiceKind;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The forecaster under exactly-once, as a process on a real broker, that is killed while a transaction is open. */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
final class ExactlyOnceIT {
    private static final Duration STEP = Duration.ofSeconds(1);
    private static final List<ServiceId> SERVICES =
            Stream.of("chat", "search").map(ServiceId::new).toList();
    /** From the kill until forecasts of later steps are read: the start of a process, and a checkpoint. */
    private static final Duration SILENCE = Duration.ofSeconds(60);
    /** The timeout after which the broker ends an open transaction: far longer than the test. */
    private static final Duration TRANSACTION_TIMEOUT = Duration.ofMinutes(10);

    private final Deployment deployment = new Deployment(1);
    private final Deployment committed = new Deployment(
            () -> {},
            deployment.bootstrapServers(),
            deployment.registry(),
            Map.of("consumer.isolation.level", "read_committed"));

    @TempDir
    private Path directory;

    @AfterEach
    void stop() {
        deployment.close();
    }

    @Test
    void aTransactionThatAKilledForecasterLeavesOpenHidesNothingOnceItRunsAgain() throws Exception {
        try (var gateway = new SteadyGateway(deployment.kafka(), STEP, SERVICES);
                Admin admin = Admin.create(deployment.kafka().admin())) {
            gateway.start();
            declare(SERVICES.get(0));
            Deployment.Running first = forecaster("first").ready();
            awaitForecastsAfter(Instant.EPOCH);
            awaitNewTransaction(admin);

            first.process().destroyForcibly().waitFor();
            Instant killed = Instant.now();
            assertThat(open(admin)).as("its transaction is still open").isNotEmpty();
            Deployment.Running second = forecaster("second");
            awaitForecastsAfter(killed);
            Duration silent = Duration.between(killed, Instant.now());
            System.out.printf("forecasts of after the kill were read, committed, %d ms after it%n", silent.toMillis());

            assertThat(silent).isLessThan(SILENCE);
            SERVICES.forEach(this::assertEveryStepIsThereOnce);
            assertThat(gpusAfter(killed, SERVICES.get(0)))
                    .as("what was declared is known still")
                    .isNotEmpty()
                    .containsOnly(Optional.of(3));
            assertThat(gpusAfter(killed, SERVICES.get(1))).isNotEmpty().containsOnly(Optional.empty());
            assertThat(Deployment.text(second.health().orElseThrow().resolve("/metrics")))
                    .as("what the job counts is seen at its process")
                    .containsPattern("lendstream_forecaster_forecasts_total\\{.*task=\"\\d+\".*} [1-9]")
                    .containsPattern("lendstream_forecaster_forecast_gpus\\{inference_service=\"%s\",.*} [1-9]"
                            .formatted(SERVICES.get(0)))
                    .containsPattern("lendstream_forecaster_number_of_completed_checkpoints\\{.*} [1-9]");
        }
    }

    /** A replica answers 50 requests/s, 42.5 of them safely, of the 100 there are. */
    private void declare(ServiceId service) {
        try (RecordWriter writer = RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/test")) {
            writer.write(
                    TopicCatalogue.SERVICES,
                    service.value(),
                    new InferenceService(
                            service,
                            new DomainId("default"),
                            Instant.now(),
                            List.of(),
                            Duration.ofMillis(500),
                            50,
                            Optional.empty(),
                            0,
                            Duration.ofSeconds(8)));
            writer.flush();
        }
    }

    /** What forecasts of a service said in GPUs for their first p50. */
    private List<Optional<Integer>> gpusAfter(Instant time, ServiceId service) {
        return committed.read(TopicCatalogue.DEMAND_FORECASTS).stream()
                .filter(forecast -> forecast.service().equals(service))
                .filter(forecast -> forecast.issuedAt().isAfter(time))
                .map(forecast -> forecast.horizons().get(0).gpus().map(GpuQuantiles::p50))
                .toList();
    }

    private Deployment.Running forecaster(String name) {
        return deployment.start(
                ServiceKind.FORECASTER,
                directory.resolve(name + ".log"),
                deployment.with(
                        "--set", "health.port=0",
                        "--set", "forecaster.delivery=exactly-once",
                        "--set", "forecaster.step=1s",
                        "--set", "forecaster.horizons=1s,5s",
                        "--set", "forecaster.checkpoint-interval=3s",
                        "--set", "kafka.producer.transaction.timeout.ms=" + TRANSACTION_TIMEOUT.toMillis(),
                        "--set", "forecaster.state-dir=" + directory.resolve("state")));
    }

    /** Until one has just begun, so that its end is a checkpoint's interval away. */
    private static void awaitNewTransaction(Admin admin) {
        var last = new AtomicReference<>(open(admin));
        await().atMost(Deployment.PATIENCE).pollInterval(Duration.ofMillis(50)).until(() -> {
            Set<String> now = open(admin);
            return !last.getAndSet(now).containsAll(now);
        });
    }

    /** Names of open transactions with forecasts. */
    private static Set<String> open(Admin admin) {
        try {
            return admin.listTransactions().all().get().stream()
                    .filter(transaction -> transaction.state() == TransactionState.ONGOING)
                    .map(TransactionListing::transactionalId)
                    .filter(id -> id.startsWith("lendstream-forecaster-forecasts"))
                    .collect(Collectors.toSet());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the broker does not list transactions", e);
        }
    }

    private void awaitForecastsAfter(Instant time) {
        await().atMost(SILENCE)
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(committed.read(TopicCatalogue.DEMAND_FORECASTS).stream()
                                .filter(forecast -> forecast.issuedAt().isAfter(time))
                                .map(DemandForecast::service))
                        .containsAll(SERVICES));
    }

    private void assertEveryStepIsThereOnce(ServiceId service) {
        List<Instant> times = committed.read(TopicCatalogue.DEMAND_FORECASTS).stream()
                .filter(forecast -> forecast.service().equals(service))
                .map(DemandForecast::issuedAt)
                .toList();
        assertThat(times)
                .containsExactlyElementsOf(Stream.iterate(times.get(0), at -> at.plus(STEP))
                        .limit(times.size())
                        .toList());
    }
}
