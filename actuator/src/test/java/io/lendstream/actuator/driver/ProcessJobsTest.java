package io.lendstream.actuator.driver;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs as processes of this machine, alone or with others. */
class ProcessJobsTest {
    @TempDir
    private Path folder;

    private final Map<GpuId, Node> nodes = new ConcurrentHashMap<>();
    private final Map<JobId, TrainingJob> submitted = new ConcurrentHashMap<>();
    private final RecordingListener heard = new RecordingListener();
    private Optional<ProcessDriver> driver = Optional.empty();

    @BeforeEach
    void makePrograms() throws IOException {
        Files.createDirectories(folder.resolve("programs/jobs"));
        submitted.put(Orders.JOB.job(), ProcessDriverTest.job(Orders.JOB.job(), "train"));
    }

    private ProcessDriver opened(Optional<Machine> machine) {
        ProcessDriver opened = ProcessDrivers.open(folder, machine, submitted, nodes, heard);
        driver = Optional.of(opened);
        return opened;
    }

    @AfterEach
    void close() {
        List<GpuId> units = Orders.gpus("GPU-a", "GPU-b");
        driver.ifPresent(open -> {
            open.take(Orders.place(9, Orders.JOB, List.of(), units));
            open.take(new Order.Force(Orders.decision(9), Orders.JOB, units));
            await().atMost(ofSeconds(10)).until(() -> running() == 0);
            open.close();
        });
    }

    private long running() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().arguments().stream()
                        .flatMap(Arrays::stream)
                        .anyMatch(argument ->
                                argument.contains(folder.resolve("state").toString())))
                .count();
    }

    private void program(String name, String text) throws IOException {
        Files.writeString(folder.resolve("programs").resolve(name), text);
    }

    private void hears(DriverEvent driverEvent) {
        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(heard.deeds()).contains(driverEvent));
    }

    @Test
    void whenALeaseEndsAJobLeavesItsUnitsAndGoesOnOnTheOthersByTheSameDecision() throws Exception {
        program("jobs/train.json", """
                {"mode": "restart", "command": ["sh", "-c", "echo $WORLD_SIZE >> sizes; sleep 300 & wait"]}
                """);
        ProcessDriver driver = opened(Optional.empty());
        Order.Place both = Orders.place(1, Orders.JOB, Orders.gpus("GPU-a", "GPU-b"), List.of());
        driver.take(both);
        Path sizes = folder.resolve("programs/sizes");
        await().atMost(ofSeconds(10))
                .until(() -> Files.exists(sizes) && Files.readAllLines(sizes).size() == 2);

        driver.take(new Order.Place(
                both.decision(), Orders.JOB, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), both.allocation(), Orders.BY));

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), false, ""));
        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(Files.readAllLines(sizes)).containsExactly("2", "2", "1"));
    }

    @Test
    void aJobWithUnitsOfAnotherMachineStartsItsPartAndSaysSoInAPlan() throws Exception {
        ProcessDriver driver = opened(Optional.of(new Machine(new NodeId("n2"), new RendezvousPorts(29500, 29999))));
        node("n1", "GPU-c");
        node("n2", "GPU-a");
        program("jobs/train.json", """
                {"mode": "restart", "command": ["sh", "-c",
                 "echo $RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT >> worlds; sleep 300 & wait"]}
                """);

        Order.Place place = new Order.Place(
                Orders.decision(3),
                Orders.JOB,
                Orders.gpus("GPU-a"),
                List.of(),
                Optional.of(new Allocation(Orders.gpus("GPU-a", "GPU-c"), 16, 0, 1, Mechanism.RESTART)),
                Orders.BY);
        assertThat(driver.plan(place).get(0)).endsWith(", of 2 workers over n1, n2; rank 0 at n1:29503");
        driver.take(place);

        hears(new DriverEvent.Started(Orders.JOB, Orders.gpus("GPU-a")));
        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(Files.readAllLines(folder.resolve("programs/worlds")))
                        .containsExactly("1 2 n1 29503"));
    }

    private void node(String name, String gpu) {
        nodes.put(
                new GpuId(gpu),
                new Node(
                        new NodeId(name),
                        new DomainId("d"),
                        Pool.TRAINING,
                        "boot",
                        Orders.BY,
                        NodeStatus.READY,
                        List.of()));
    }
}
