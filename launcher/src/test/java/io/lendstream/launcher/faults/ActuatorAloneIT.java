package io.lendstream.launcher.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** An actuator that runs a real process on a lent GPU, and whose broker is killed until long after the lease has ended. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ActuatorAloneIT {
    private static final JobId JOB = new JobId("job");
    private static final GpuId GPU = new GpuId("gpu-1");
    private static final Duration NOTICE = Duration.ofSeconds(5);
    /** What may pass until a process that got its signal has been seen to be gone, on a machine that does other things. */
    private static final Duration MARGIN = Duration.ofSeconds(5);

    private final Stack stack = Stack.start(
            StackSettings.defaults().withBroker(FailureTimeouts.named("quick").broker(), Map.of()),
            Installation.find(),
            line -> {});

    @TempDir
    private Path directory;

    @AfterAll
    void stop() {
        stack.close();
    }

    /** Of a lease that is as long for a producer's time-out as ten minutes are for Kafka's usual two. */
    @Test
    void takesALentGpuBackWithoutABrokerAndReportsItOnceTheBrokerIsBack() throws Exception {
        outlive("alone", Duration.ofSeconds(40), Duration.ofSeconds(8), true);
    }

    @Test
    @EnabledIfSystemProperty(named = Ordeals.ALL, matches = "true", disabledReason = Ordeals.WHY)
    void takesALentGpuBackAfterTheUsualLeaseByTheUsualTimeOuts() throws Exception {
        outlive("usual", Duration.ofMinutes(10), Duration.ofMinutes(2), false);
    }

    private void outlive(String name, Duration lease, Duration delivery, boolean restarted) throws Exception {
        try (Brokers brokers = Brokers.start(
                        Installation.find(),
                        directory.resolve(name + "-broker"),
                        1,
                        FailureTimeouts.named("quick").broker());
                Site site = new Site(
                        stack,
                        Site.Kafka.at(brokers.bootstrapServers(), 1),
                        name,
                        directory,
                        List.of(),
                        Optional.empty())) {
            Path pid = site.directory().resolve("pid");
            String[] settings = {
                "actuator.driver=process",
                "actuator.nodes=all",
                "actuator.process.programs=" + WaitingJob.programs(site.directory(), pid),
                "actuator.lease-notice=" + NOTICE.toSeconds() + "s",
                "actuator.stock-every=5s",
                "connect-timeout=2s",
                "kafka.producer.request.timeout.ms=" + delivery.toMillis() / 2,
                "kafka.producer.delivery.timeout.ms=" + delivery.toMillis()
            };
            Instance first = site.startActuator(settings);
            Site.awaitReady(first);
            declare(site);
            site.decide(
                    1,
                    new Action.Hold(
                            Optional.empty(),
                            Optional.empty())); // an actuator takes stock of the domains whose decisions it has seen
            awaitStock(site);
            Instant until = Instant.now().plus(lease).truncatedTo(ChronoUnit.MILLIS);
            lend(site, until);
            awaitOutcome(site, Outcome.BOUND);
            ProcessHandle worker = ProcessHandle.of(
                            Long.parseLong(Files.readString(pid).strip()))
                    .orElseThrow();

            brokers.broker(1).kill();
            await().atMost(Duration.ofSeconds(60)).until(() -> !first.isReady());
            assertThat(first.isAlive()).as(first::printed).isTrue();
            Instance last = first;
            if (restarted) {
                first.kill();
                last = site.startActuator(settings);
                Instance second = last;
                await().atMost(Site.PATIENCE).until(() -> second.printed().contains("is working without a broker"));
                await().atMost(Site.PATIENCE)
                        .until(() ->
                                second.printed().contains("waiting for the broker at " + brokers.bootstrapServers()));
            }
            assertThat(worker.isAlive()).as("the lease has not ended").isTrue();
            await().atMost(lease.plusSeconds(60))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> !worker.isAlive());
            Instant gone = Instant.now();
            assertThat(gone).isBetween(until, until.plus(NOTICE).plus(MARGIN));
            assertThat(last.isAlive()).as(last::printed).isTrue();
            assertThat(last.isReady()).isFalse();

            brokers.restart(1, 2);
            awaitOutcome(site, Outcome.RELEASED);
            Site.awaitReady(last);
            List<ActuationReport> reports = reports(site);
            assertThat(reports).extracting(ActuationReport::outcome).startsWith(Outcome.ACCEPTED, Outcome.BOUND);
            assertThat(reports).extracting(ActuationReport::at).isSorted();
            assertThat(reports)
                    .extracting(report -> "%s %s %s".formatted(report.decision(), report.outcome(), report.gpus()))
                    .doesNotHaveDuplicates();
            System.out.printf(
                    "%s: gone %d ms after the end of a lease of %s without a broker; %d reports%n",
                    name, Duration.between(until, gone).toMillis(), lease, reports.size());
        } catch (Exception | AssertionError e) {
            try (var logs = Files.list(directory.resolve(name))) {
                logs.filter(file -> file.toString().endsWith(".log")).forEach(ActuatorAloneIT::print);
            }
            throw e;
        }
    }

    private static void print(Path log) {
        try {
            System.out.printf("-- %s:%n%s%n", log, Files.readString(log));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitOutcome(Site site, Outcome outcome) {
        await().atMost(Site.PATIENCE)
                .pollInterval(Duration.ofMillis(500))
                .ignoreExceptions()
                .until(() -> reports(site).stream().anyMatch(report -> report.outcome() == outcome));
    }

    private static List<ActuationReport> reports(Site site) {
        return site.read(TopicCatalogue.ACTUATION_REPORTS).stream()
                .filter(report -> report.outcome() != Outcome.HOLDS)
                .toList();
    }

    /** Waits until the actuator knows the GPU: two topics are read in any order. */
    private static void awaitStock(Site site) {
        await().atMost(Site.PATIENCE)
                .pollInterval(Duration.ofMillis(500))
                .until(() -> site.read(TopicCatalogue.ACTUATION_REPORTS).stream()
                        .anyMatch(report -> report.outcome() == Outcome.HOLDS
                                && report.gpus().contains(GPU)));
    }

    private static void declare(Site site) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        try (RecordWriter writer = RecordWriter.open(site.kafka(), site.topics(), "/test/scheduler")) {
            writer.write(
                    TopicCatalogue.NODES,
                    "node",
                    new Node(
                            new NodeId("node"),
                            Site.DOMAIN,
                            Pool.INFERENCE,
                            "boot",
                            now,
                            NodeStatus.READY,
                            new ArrayList<>(List.of(Gpu.whole(GPU, 0, "test GPU", 80L << 30)))));
            writer.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), WaitingJob.of(JOB, now, 1, "process"));
            writer.flush();
        }
    }

    private static void lend(Site site, Instant until) {
        site.decide(
                2,
                new Action.Lend(JOB, List.of(GPU), until, new Allocation(List.of(GPU), 10, 0, 1, Mechanism.RESTART)));
    }
}
