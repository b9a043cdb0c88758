package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.launcher.stack.ServiceKind;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * The services against a broker and a registry from the images that docker-compose.yml names. Skipped where no Docker engine
 * answers; {@code ./dev compose-check} gets one. {@code LENDSTREAM_DOCKER_API} names the API's version for engines that are older
 * than what Testcontainers speaks.
 */
@Timeout(value = 8, unit = TimeUnit.MINUTES)
final class ContainerIT {
    private static final DockerImageName KAFKA = DockerImageName.parse("apache/kafka:4.2.1");
    private static final DockerImageName REGISTRY =
            DockerImageName.parse("apicurio/apicurio-registry-mem:2.6.13.Final");
    private static final int REGISTRY_PORT = 8080;

    @TempDir
    private Path directory;

    @BeforeAll
    static void findAnEngine() {
        Optional.ofNullable(System.getenv("LENDSTREAM_DOCKER_API"))
                .ifPresent(version -> System.setProperty("api.version", version));
        assumeTrue(
                DockerClientFactory.instance().isDockerAvailable(),
                "no Docker engine answers; ./dev compose-check gets one and runs this");
    }

    @Test
    void schedulerForecasterAndActuatorLendAndTakeBackOnAContainerisedBroker() throws Exception {
        try (Network network = Network.newNetwork();
                KafkaContainer broker = new KafkaContainer(KAFKA)
                        .withNetwork(network)
                        .withEnv("KAFKA_TRANSACTION_STATE_LOG_NUM_PARTITIONS", "4")
                        .withEnv("KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS", "4");
                GenericContainer<?> registry = new GenericContainer<>(REGISTRY)
                        .withNetwork(network)
                        .withExposedPorts(REGISTRY_PORT)
                        .waitingFor(Wait.forHttp("/apis/ccompat/v7/subjects").forPort(REGISTRY_PORT))
                        .withStartupTimeout(Duration.ofMinutes(2))) {
            broker.start();
            registry.start();
            String url =
                    "http://%s:%d/apis/ccompat/v7".formatted(registry.getHost(), registry.getMappedPort(REGISTRY_PORT));
            try (Deployment deployment =
                    new Deployment(() -> {}, broker.getBootstrapServers(), url, Map.of()).prepared(1)) {
                play(deployment);
            }
        }
    }

    private void play(Deployment deployment) throws Exception {
        Path config = Files.writeString(
                directory.resolve("lendstream.properties"), """
                time=virtual
                health.port=0
                connect-timeout=60s
                agent.nodes=4
                agent.training-nodes=2
                agent.period=60s
                kafka.state.dir=%s
                """.formatted(directory.resolve("scheduler-state")));
        Map<ServiceKind, Deployment.Running> services = new TreeMap<>();
        for (ServiceKind kind : ServiceKind.values()) {
            if (kind != ServiceKind.LOAD) {
                services.put(kind, start(deployment, kind, config));
            }
        }
        services.values().forEach(Deployment.Running::ready);

        Deployment.Running load = start(
                deployment,
                ServiceKind.LOAD,
                config,
                "--nodes",
                "4",
                "--training-nodes",
                "2",
                "--set",
                "load.stop-after=25s");

        await().atMost(Duration.ofMinutes(3)).until(() -> !load.process().isAlive());
        assertThat(load.exit()).as(load.printed()).isZero();
        List<Decision> decisions = deployment.read(TopicCatalogue.DECISIONS);
        assertThat(decisions).anyMatch(decision -> decision.action() instanceof Action.Lend);
        assertThat(decisions).anyMatch(decision -> decision.action() instanceof Action.Reclaim);
        assertThat(deployment.read(TopicCatalogue.DEMAND_FORECASTS)).isNotEmpty();
        deployment.awaitCleanHistory(new DomainId("default"));
        services.values().forEach(service -> service.process().destroy());
    }

    private Deployment.Running start(Deployment deployment, ServiceKind kind, Path config, String... more) {
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--config", config.toString()));
        return deployment.start(kind, directory.resolve(kind.command() + ".log"), arguments);
    }
}
