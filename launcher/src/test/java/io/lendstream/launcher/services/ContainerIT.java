package io.lendstream.launcher.services;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.id.DomainId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.ContainerFetchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.RemoteDockerImage;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * The services against a broker and a registry from the images that docker-compose.yml names. Skipped where no Docker engine
 * answers, or has no such images; {@code ./dev compose-check} gets one. {@code DOCKER_API_VERSION} names the API's version for engines that are older
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

    @BeforeEach // of the one test, so that it counts as skipped
    void findAnEngine() {
        Optional.ofNullable(System.getenv("DOCKER_API_VERSION"))
                .ifPresent(version -> System.setProperty("api.version", version));
        assumeTrue(
                DockerClientFactory.instance().isDockerAvailable(),
                "no Docker engine answers; ./dev compose-check gets one and runs this");
        findOrPull(KAFKA);
        findOrPull(REGISTRY);
    }

    private static void findOrPull(DockerImageName image) {
        try {
            new RemoteDockerImage(image).get();
        } catch (ContainerFetchException e) {
            abort("%s can neither be found nor pulled; ./dev compose-check makes what stands for it and runs this"
                    .formatted(image));
        }
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
                new AcceleratedLoop(deployment, directory).play(Map.of());
                deployment.awaitCleanHistory(new DomainId("default"));
            }
        }
    }
}
