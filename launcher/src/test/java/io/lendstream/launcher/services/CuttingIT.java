package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.ServiceKind;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Agent, two schedulers and actuator as processes, a node of two GPUs that may be cut, and a server that tells of its batches. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class CuttingIT {
    private static final DomainId DOMAIN = new DomainId("default");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Duration WINDOW = Duration.ofSeconds(2);

    @TempDir
    private Path directory;

    private Instant told = Instant.now().minus(WINDOW).truncatedTo(ChronoUnit.MILLIS);
    private long sequence;

    @Test
    void aServiceMovesToAnInstanceOnceItsLatencyIsKnownAndItsLeaseSaysSo() {
        try (Deployment deployment = new Deployment(1);
                RecordWriter server = RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/server")) {
            start(deployment, ServiceKind.SCHEDULER, "one");
            start(deployment, ServiceKind.SCHEDULER, "other");
            start(
                    deployment,
                    ServiceKind.ACTUATOR,
                    "actuator",
                    "--state-dir",
                    directory.resolve("done").toString());
            start(
                    deployment,
                    ServiceKind.AGENT,
                    "agent",
                    "--backend",
                    "simulated",
                    "--nodes",
                    "1",
                    "--gpus-per-node",
                    "2",
                    "--training-nodes",
                    "0",
                    "--set",
                    "agent.cuttable-nodes=1",
                    "--set",
                    "agent.period=2s");
            server.write(TopicCatalogue.SERVICES, CHAT.value(), chat());

            await().atMost(Duration.ofMinutes(4))
                    .pollDelay(Duration.ZERO)
                    .pollInterval(WINDOW)
                    .untilAsserted(() -> {
                        server.write(TopicCatalogue.REQUEST_RATES, CHAT.value(), rate());
                        server.flush();
                        assertThat(deployment.read(TopicCatalogue.LEASES))
                                .as("an instance's lease")
                                .anyMatch(CuttingIT::servesChatOnAnInstance);
                    });

            List<Decision> decisions = deployment.read(TopicCatalogue.DECISIONS);
            deployment.awaitCleanHistory(DOMAIN);
            assertThat(decisions)
                    .filteredOn(decision -> decision.action() instanceof Action.Repartition)
                    .isNotEmpty();
            List<Node> inventories = deployment.read(TopicCatalogue.NODES);
            assertThat(inventories.get(inventories.size() - 1).gpus())
                    .anyMatch(gpu -> !gpu.instances().isEmpty());
        }
    }

    private static boolean servesChatOnAnInstance(Lease lease) {
        return lease.gpuId().value().contains("/") && lease.owner().equals(new Owner.Serving(CHAT));
    }

    private void start(Deployment deployment, ServiceKind kind, String name, String... more) {
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--set", "health.port=0"));
        if (kind == ServiceKind.SCHEDULER) {
            arguments.addAll(List.of(
                    "--set",
                    "scheduler.repartition=true",
                    "--set",
                    "kafka.processing.guarantee=at_least_once",
                    "--set",
                    "kafka.state.dir=" + directory.resolve(name + "-state")));
        }
        deployment.start(kind, directory.resolve(name + ".log"), arguments).ready();
    }

    private static InferenceService chat() {
        return new InferenceService(
                CHAT,
                DOMAIN,
                Instant.now().truncatedTo(ChronoUnit.MILLIS),
                List.of("chat"),
                Duration.ofMillis(400),
                100,
                Optional.empty(),
                1,
                Duration.ofSeconds(2),
                Optional.of(8L << 30));
    }

    private RequestRate rate() {
        Instant start = told;
        Instant end = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        told = end;
        return new RequestRate(
                CHAT,
                DOMAIN,
                "server",
                "boot-1",
                ++sequence,
                start,
                end,
                RequestRate.Requests.answered(20),
                new RequestRate.Latency(Optional.empty(), Optional.of(.1)),
                List.of(),
                List.of(
                        new BatchTimes(Optional.empty(), 1, 0, 30, 25),
                        new BatchTimes(Optional.empty(), 32, 0, 30, 180)));
    }
}
