package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.ServiceKind;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 4, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ServicesIT {
    private static final DomainId DOMAIN = new DomainId("default");
    private static final JobId JOB = new JobId("job");

    private final Deployment deployment = new Deployment(2);
    private int actuators;
    private long sequence;

    @TempDir
    private Path directory;

    @AfterEach
    void stopServices() {
        deployment.killServices();
    }

    @AfterAll
    void stopDeployment() {
        deployment.close();
    }

    @Test
    void anActuatorThatIsKilledForgetsNothingAndReportsNothingTwice() throws Exception {
        assertThat(run(
                                ServiceKind.AGENT,
                                "agent",
                                "--backend",
                                "simulated",
                                "--once",
                                "--nodes",
                                "2",
                                "--training-nodes",
                                "1")
                        .exit())
                .isZero();
        List<GpuId> gpus = deployment.read(TopicCatalogue.NODES).stream()
                .filter(node -> node.nodeId().value().equals("node-00"))
                .flatMap((Node node) -> node.gpus().stream())
                .map(Gpu::gpuId)
                .toList();
        assertThat(gpus).hasSize(4);
        Deployment.Running first = actuator();

        try (RecordWriter scheduler =
                RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/lendstream/scheduler")) {
            scheduler.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), job());
            scheduler.write(TopicCatalogue.DECISIONS, DOMAIN.value(), resize(gpus.subList(0, 1), gpus.subList(0, 1)));
            scheduler.flush();
            awaitReport(1, Outcome.BOUND);
            deployment.write(TopicCatalogue.DECISIONS, DOMAIN.value(), new byte[] {1, 2, 3});
            first.process().destroyForcibly().waitFor();
            scheduler.write(TopicCatalogue.DECISIONS, DOMAIN.value(), resize(gpus.subList(1, 2), gpus.subList(0, 2)));
            scheduler.flush();
            actuator();
            awaitReport(2, Outcome.APPLIED);
        }

        List<ActuationReport> reports = deployment.read(TopicCatalogue.ACTUATION_REPORTS);
        assertThat(reports)
                .extracting(report -> report.decision().sequence() + " " + report.outcome())
                .contains("1 ACCEPTED", "1 BOUND", "1 APPLIED", "2 ACCEPTED", "2 BOUND", "2 APPLIED")
                .doesNotHaveDuplicates();
        assertThat(reports).extracting(ActuationReport::at).isSorted();
        List<ConsumerRecord<byte[], byte[]>> letters = deployment.deadLetters(TopicCatalogue.DECISIONS);
        assertThat(letters).isNotEmpty();
        assertThat(Deployment.header(letters.get(0), DeadLetters.TOPIC)).isEqualTo("lendstream.decisions");
        assertThat(Deployment.header(letters.get(0), DeadLetters.SERVICE)).isEqualTo("actuator");
    }

    @Test
    void aServiceSaysHowItIsAndEndsWithZeroWhenItIsTerminated() throws Exception {
        Deployment.Running agent = run(
                ServiceKind.AGENT,
                "agent",
                "--backend",
                "simulated",
                "--domain",
                "elsewhere",
                "--nodes",
                "1",
                "--training-nodes",
                "0",
                "--set",
                "health.port=0");
        URI health = agent.ready().health().orElseThrow();

        assertThat(Deployment.status(health.resolve("/health/live"))).isEqualTo(200);
        assertThat(Deployment.status(health.resolve("/metrics"))).isEqualTo(200);

        agent.process().destroy();

        assertThat(agent.exit()).as(agent.printed()).isZero();
    }

    private Deployment.Running actuator() {
        return run(
                        ServiceKind.ACTUATOR,
                        "actuator-" + actuators++,
                        "--state-dir",
                        directory.resolve("state").toString(),
                        "--set",
                        "health.port=0")
                .ready();
    }

    private Deployment.Running run(ServiceKind service, String name, String... arguments) {
        return deployment.start(service, directory.resolve(name + ".log"), deployment.with(arguments));
    }

    private void awaitReport(long decision, Outcome outcome) {
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(deployment.read(TopicCatalogue.ACTUATION_REPORTS))
                        .anyMatch(report -> report.decision().sequence() == decision && report.outcome() == outcome));
    }

    private Decision resize(List<GpuId> named, List<GpuId> all) {
        sequence++;
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        return new Decision(
                new DecisionId(DOMAIN, 1, sequence),
                now,
                now.plusSeconds(60),
                false,
                new Reason("plan", "", Map.of(), List.of()),
                new Action.Resize(JOB, named, new Allocation(all, 10, 0, 1, Mechanism.AFE)));
    }

    /** Starts and changes within two seconds. */
    private static TrainingJob job() {
        return new TrainingJob(
                JOB,
                DOMAIN,
                Instant.now().truncatedTo(ChronoUnit.MILLIS),
                "cifar10",
                new TrainingJob.Scaling(1, 1, 8, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(10, 1000, 1, 100, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(Duration.ofSeconds(2), Duration.ofSeconds(1))),
                "simulated",
                Optional.empty());
    }
}
