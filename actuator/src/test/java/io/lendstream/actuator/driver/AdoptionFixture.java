package io.lendstream.actuator.driver;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.actuator.adoption.Strangers;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
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
import org.junit.jupiter.api.io.TempDir;

/** A process driver, and processes that something else has started. */
abstract class AdoptionFixture {
    static final String ENDS = "sleep 300 & wait";
    static final String IGNORES_SIGTERM = "trap '' TERM; sleep 300 & while :; do wait; done";

    @TempDir
    Path folder;

    final Map<JobId, TrainingJob> submitted = new ConcurrentHashMap<>();
    RecordingListener heard = new RecordingListener();
    Strangers strangers;
    final Map<GpuId, Node> nodes = new ConcurrentHashMap<>();
    Optional<Machine> machine = Optional.empty();
    ProcessDriver driver;

    @BeforeEach
    void open() throws IOException {
        Files.createDirectories(folder.resolve("programs/services"));
        Files.createDirectories(folder.resolve("programs/jobs"));
        strangers =
                new Strangers(Files.createDirectory(folder.resolve("strangers")).toRealPath());
        driver = opened();
    }

    ProcessDriver opened() {
        return ProcessDrivers.open(folder, machine, submitted, nodes, heard);
    }

    /** Another driver process on the same state. */
    void restart() {
        driver.close();
        heard = new RecordingListener();
        driver = opened();
    }

    @AfterEach
    void close() {
        driver.close();
        strangers.close();
        own().forEach(ProcessHandle::destroyForcibly);
    }

    /** What the driver has started. */
    List<ProcessHandle> own() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().arguments().stream()
                        .flatMap(Arrays::stream)
                        .anyMatch(argument ->
                                argument.contains(folder.resolve("state").toString())))
                .flatMap(
                        shell -> java.util.stream.Stream.concat(java.util.stream.Stream.of(shell), shell.descendants()))
                .toList();
    }

    void program(String name, String text) throws IOException {
        Files.writeString(folder.resolve("programs").resolve(name), text);
    }

    Process stranger(String script) throws IOException {
        Process process = strangers.start(script, Map.of());
        await().atMost(ofSeconds(10))
                .pollInterval(ofMillis(20))
                .until(() -> process.descendants().count() > 0);
        return process;
    }

    static Adopted adopted(Process process, String... gpus) {
        return new Adopted(Strangers.user(process), Orders.gpus(gpus));
    }

    static Order.Place place(long sequence, Tenant tenant, List<GpuId> units, List<GpuId> leaving, Adopted... adopted) {
        Optional<Allocation> allocation =
                tenant.isJob() ? Optional.of(new Allocation(units, 16, 0, 1, Mechanism.RESTART)) : Optional.empty();
        return new Order.Place(
                Orders.decision(sequence), tenant, units, leaving, allocation, Orders.BY, List.of(), List.of(adopted));
    }

    void hears(DriverEvent driverEvent) {
        await().atMost(ofSeconds(10))
                .pollInterval(ofMillis(20))
                .untilAsserted(() -> assertThat(heard.deeds()).contains(driverEvent));
    }

    /** The reason of the first failure. */
    String failure() {
        await().atMost(ofSeconds(10))
                .pollInterval(ofMillis(20))
                .until(() -> heard.deeds().stream().anyMatch(DriverEvent.Failed.class::isInstance));
        return heard.deeds().stream()
                .filter(DriverEvent.Failed.class::isInstance)
                .map(each -> ((DriverEvent.Failed) each).reason())
                .findFirst()
                .orElseThrow();
    }
}
