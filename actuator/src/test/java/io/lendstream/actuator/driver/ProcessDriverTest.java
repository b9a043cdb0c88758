package io.lendstream.actuator.driver;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcesses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replicas as processes; jobs have tests of their own. */
class ProcessDriverTest {
    @TempDir
    private Path folder;

    private final Map<GpuId, Device> devices = new ConcurrentHashMap<>();
    private final Map<JobId, TrainingJob> submitted = new ConcurrentHashMap<>();
    private final Map<String, String> environment =
            Map.of("PATH", System.getenv("PATH"), "LENDSTREAM_KAFKA_SASL_JAAS_CONFIG", "password=broker");
    private RecordingListener heard = new RecordingListener();
    private ProcessDriver driver;

    @BeforeEach
    void open() throws IOException {
        Files.createDirectories(folder.resolve("programs/services"));
        Files.createDirectories(folder.resolve("programs/jobs"));
        program("services/chat.json", """
                {"command": ["sh", "-c", "echo $CUDA_VISIBLE_DEVICES {index} >> started; sleep 300 & wait"]}
                """);
        driver = opened();
        assertThat(driver.complaints()).isEmpty();
    }

    private ProcessDriver opened() {
        ClusterLookup surroundings = new ClusterLookup() {
            @Override
            public Optional<TrainingJob> job(JobId job) {
                return Optional.ofNullable(submitted.get(job));
            }

            @Override
            public Optional<Device> device(GpuId unit) {
                return Optional.ofNullable(devices.get(unit));
            }
        };
        return new ProcessDriver(
                new Programs(folder.resolve("programs"), false),
                folder.resolve("state"),
                CleanEnvironment.of(environment, List.of()),
                Optional.empty(),
                surroundings,
                heard,
                InstantSource.system());
    }

    private void program(String name, String text) throws IOException {
        Files.writeString(folder.resolve("programs").resolve(name), text);
    }

    @AfterEach
    void close() {
        driver.take(new Order.Force(Orders.decision(99), Orders.CHAT, Orders.gpus("GPU-a", "GPU-b")));
        await().atMost(ofSeconds(10)).until(() -> running() == 0);
        driver.close();
    }

    private long running() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().arguments().stream()
                        .flatMap(java.util.Arrays::stream)
                        .anyMatch(argument ->
                                argument.contains(folder.resolve("state").toString())))
                .count();
    }

    private void hears(DriverEvent driverEvent) {
        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(heard.deeds()).contains(driverEvent));
    }

    @Test
    void aReplicaStartsOnItsGpuAndStopsWithAllThatItStarted() throws Exception {
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), List.of()));
        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-a")));
        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-b")));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(1)));
        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(Files.readAllLines(folder.resolve("programs/started")))
                        .containsExactlyInAnyOrder("GPU-a 0", "GPU-b 0"));

        driver.take(Orders.place(2, Orders.CHAT, Orders.gpus("GPU-b"), Orders.gpus("GPU-a")));

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, ""));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(2)));
    }

    @Test
    void aReplicaThatEndsByItselfIsReportedStopped() throws Exception {
        program("services/chat.json", "{\"command\": [\"sh\", \"-c\", \"echo out of memory; sleep 0.5; exit 7\"]}");
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, "out of memory"));
    }

    @Test
    void aReplicaThatCannotBeStartedIsReportedStoppedWithTheReason() throws Exception {
        program("services/chat.json", "{\"command\": [\"sh\"], \"directory\": \"/no/such\"}");
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0)).isInstanceOfSatisfying(DriverEvent.Stopped.class, left -> {
            assertThat(left.reason()).contains("/no/such");
            assertThat(left.ofProgram()).isTrue();
        });
    }

    @Test
    void aReplicaWhoseProgramIsMissingNeverSeemsToRun() throws Exception {
        program("services/chat.json", "{\"command\": [\"/no/such/server\"]}");
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> heard.deeds().size() == 2);
        assertThat(heard.deeds())
                .allSatisfy(event -> assertThat(event).isInstanceOfSatisfying(DriverEvent.Stopped.class, left -> {
                    assertThat(left.reason()).startsWith("its program /no/such/server does not exist");
                    assertThat(left.ofProgram()).isTrue();
                }));
    }

    /** The system looks for the interpreter of a script only when it starts it. */
    @Test
    void aReplicaThatItsShellCannotRunIsNoFaultOfItsGpu() throws Exception {
        Path script = Files.writeString(folder.resolve("programs/serve"), "#!/no/such/interpreter\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        program("services/chat.json", "{\"command\": [\"./serve\"], \"ready\": \"http://127.0.0.1:1/\"}");
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0))
                .isInstanceOfSatisfying(
                        DriverEvent.Stopped.class,
                        left -> assertThat(left.ofProgram()).isTrue());
    }

    @Test
    void aServiceWithoutAFileIsNoFaultOfItsGpu() {
        Tenant mail = new Tenant.Service(new ServiceId("mail"));
        driver.take(Orders.place(1, mail, Orders.gpus("GPU-a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0)).isInstanceOfSatisfying(DriverEvent.Failed.class, failed -> {
            assertThat(failed.reason()).contains("services/mail.json cannot be read");
            assertThat(failed.ofProgram()).isTrue();
        });
    }

    @Test
    void aReplicaThatDoesNotAnswerHoldsUpNoOther() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            program("services/chat.json", """
                    {"command": ["sleep", "300"], "ready": "http://127.0.0.1:%d/"}
                    """.formatted(silent.getLocalPort()));
            program("services/mail.json", "{\"command\": [\"sleep\", \"300\"]}");
            driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), List.of()));
            await().atMost(ofSeconds(10)).until(() -> running() == 2);
            Tenant mail = new Tenant.Service(new ServiceId("mail"));

            long begun = System.nanoTime();
            driver.take(Orders.place(2, mail, Orders.gpus("GPU-c"), List.of()));
            hears(new DriverEvent.Started(mail, Orders.gpus("GPU-c")));
            driver.take(new Order.Force(Orders.decision(3), mail, Orders.gpus("GPU-c")));
            hears(new DriverEvent.Stopped(mail, Orders.gpus("GPU-c"), true, ""));

            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(ofSeconds(1));
            assertThat(heard.deeds()).doesNotContain(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-a")));
        }
    }

    @Test
    void replicasRunOnWithoutTheDriverAndTheNextOneTakesThemOverAndStartsNoneTwice() throws Exception {
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));
        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-a")));
        driver.close();
        heard = new RecordingListener();
        driver = opened();

        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));

        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-a")));
        assertThat(Files.readAllLines(folder.resolve("programs/started"))).hasSize(1);
    }

    @Test
    void aReplicaGetsNoneOfTheActuatorsSettings() throws Exception {
        program("services/chat.json", """
                {"command": ["sh", "-c", "env > env.new && mv env.new env; sleep 300"], "environment": {"MINE": "1"}}
                """);
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));
        Path seen = folder.resolve("programs/env");
        await().atMost(ofSeconds(10)).until(() -> Files.exists(seen));

        assertThat(Files.readAllLines(seen).stream().map(line -> line.replaceAll("=.*", "")))
                .containsOnlyOnce("MINE", "PATH", "CUDA_VISIBLE_DEVICES")
                .isSubsetOf(
                        "MINE",
                        "PATH",
                        "CUDA_VISIBLE_DEVICES",
                        "LENDSTREAM_GPU_INDEX",
                        "LENDSTREAM_AFE_WORKER",
                        "LENDSTREAM_TENANT",
                        "PWD",
                        "OLDPWD",
                        "SHLVL",
                        "_");
    }

    @Test
    void tenantsCarryTheNameByWhichTheAgentOfThisHostKnowsThem() throws Exception {
        String command =
                "\"command\": [\"sh\", \"-c\", \"sleep 300 & echo $! > $0.new && mv $0.new $0; wait\", \"%s\"]";
        program("services/chat.json", "{%s}".formatted(command.formatted("chat.pid")));
        program("jobs/train.json", "{\"mode\": \"restart\", %s}".formatted(command.formatted("job.pid")));
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));
        submitted.put(Orders.JOB.job(), job(Orders.JOB.job(), "train"));
        driver.take(Orders.place(2, Orders.JOB, Orders.gpus("GPU-b"), List.of()));

        assertThat(userOf("chat.pid")).isEqualTo("lendstream/d/service/chat");
        assertThat(userOf("job.pid")).isEqualTo("lendstream/d/job/job");
        driver.take(Orders.place(3, Orders.JOB, List.of(), Orders.gpus("GPU-b")));
        driver.take(new Order.Force(Orders.decision(3), Orders.JOB, Orders.gpus("GPU-b")));
    }

    /** The user by which an agent knows the process that a program has started. */
    private String userOf(String file) throws IOException {
        Path pid = folder.resolve("programs").resolve(file);
        await().atMost(ofSeconds(10)).until(() -> Files.exists(pid));
        var host = new HostProcesses();
        return host.user(host.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow());
    }

    @Test
    void aReplicaWhoseProgramCanNeverStartIsReportedStoppedAndBlocksNoOther() throws Exception {
        program("services/chat.json", "{\"command\": [\"sleep\", \"3\\u0000\"]}");
        program("services/mail.json", "{\"command\": [\"sleep\", \"300\"], \"environment\": {\"A=B\": \"1\"}}");
        Tenant mail = new Tenant.Service(new ServiceId("mail"));
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));
        driver.take(Orders.place(2, mail, Orders.gpus("GPU-b"), List.of()));

        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(heard.deeds())
                        .anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Stopped left
                                && left.tenant().equals(Orders.CHAT)
                                && left.reason().contains("NUL"))
                        .anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Stopped left
                                && left.tenant().equals(mail)
                                && left.reason().contains("A=B")));
        program("services/mail.json", "{\"command\": [\"sleep\", \"300\"]}");
        driver.take(Orders.place(3, mail, Orders.gpus("GPU-b"), List.of()));
        hears(new DriverEvent.Started(mail, Orders.gpus("GPU-b")));
        driver.take(new Order.Force(Orders.decision(4), mail, Orders.gpus("GPU-b")));
        hears(new DriverEvent.Stopped(mail, Orders.gpus("GPU-b"), true, ""));
    }

    @Test
    void aJobThatNoProcessCanBeGivenTheNameOfIsReportedFailedAndNotTriedAgain() throws Exception {
        program("jobs/train.json", "{\"mode\": \"restart\", \"command\": [\"sleep\", \"300\"]}");
        JobId id = new JobId("a\0b");
        submitted.put(id, job(id, "train"));
        Tenant tenant = new Tenant.Job(id);
        driver.take(Orders.place(1, tenant, Orders.gpus("GPU-a"), List.of()));

        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(heard.progress())
                        .extracting(TrainingProgress::phase)
                        .containsExactly(JobPhase.FAILED));
        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(heard.deeds())
                        .anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Failed failed
                                && failed.reason().contains("NUL")
                                && failed.ofProgram())
                        .anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Stopped left
                                && left.reason().contains("NUL")));

        driver.take(Orders.place(2, tenant, Orders.gpus("GPU-b"), List.of()));

        hears(new DriverEvent.InForce(tenant, Orders.decision(2)));
        assertThat(running()).isZero();
    }

    @Test
    void anOrderForAUnitThatIsNoDeviceFailsAndIsNotThrown() throws Exception {
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a,GPU-b"), List.of()));

        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(heard.deeds())
                        .anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Failed failed
                                && failed.reason().contains("must be one GPU or instance")
                                && !failed.ofProgram()));
    }

    static TrainingJob job(JobId id, String application) {
        return new TrainingJob(
                id,
                new DomainId("d"),
                Orders.BY,
                application,
                new TrainingJob.Scaling(1, 1, 1, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(32, 256, 8, 64, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(ofSeconds(5), ofSeconds(1))),
                "process",
                Optional.empty());
    }

    @Test
    void whatTheNodeHasNoProgramForFailsAndSaysWhereToWriteIt() {
        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("GPU-a"), List.of()));

        hears(new DriverEvent.Failed(Orders.JOB, Orders.decision(1), "job job has not been submitted", true));
    }

    @Test
    void aReplicaOnAMigInstanceIsGivenItsUuidAndANumberThatNoOtherHas() {
        devices.put(Orders.gpus("GPU-a/4:4").get(0), new Device(20, Optional.of("MIG-7"), Optional.empty()));

        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a/4:4"), List.of()));

        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-a/4:4")));
        await().atMost(ofSeconds(10))
                .untilAsserted(() -> assertThat(Files.readAllLines(folder.resolve("programs/started")))
                        .containsExactly("MIG-7 20"));
        driver.take(new Order.Force(Orders.decision(2), Orders.CHAT, Orders.gpus("GPU-a/4:4")));
    }

    @Test
    void migInstancesWithoutAUuidAndCutsAreNotForProcesses() {
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a/0:4"), List.of()));
        driver.take(new Order.Cut(Orders.decision(2), Orders.gpus("GPU-a").get(0), List.of()));

        await().atMost(ofSeconds(10)).until(() -> heard.deeds().size() >= 2);
        assertThat(heard.deeds())
                .anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Failed failed
                        && failed.reason().contains("without a UUID in the inventory"));
        assertThat(heard.deeds()).anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Cut cut && !cut.done());
    }

    @Test
    void aDryRunSaysExactlyWhatWouldBeRun() {
        ProcessPlan plan = new ProcessPlan(
                new Programs(folder.resolve("programs"), false), Optional.empty(), ClusterLookup.NOTHING);

        assertThat(plan.of(Orders.place(1, Orders.CHAT, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"))))
                .containsExactly(
                        "stop (SIGTERM) the replicas of service chat on [GPU-b]",
                        "run a replica of service chat: [sh, -c, echo $CUDA_VISIBLE_DEVICES {index} >> started; sleep 300 & wait]"
                                + " in %s, CUDA_VISIBLE_DEVICES=GPU-a".formatted(folder.resolve("programs")));
        assertThat(running()).isZero();
    }
}
