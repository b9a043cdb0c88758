package io.lendstream.actuator.driver;

import static io.lendstream.actuator.adoption.Strangers.stays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs whose process something else has started. */
class AdoptedJobsTest extends AdoptionFixture {
    private static final String CHECKPOINTS = "trap 'echo saved > checkpoint; exit 0' TERM; sleep 300 & wait";

    @BeforeEach
    void submit() {
        submit(Orders.BY);
    }

    private void submit(Instant at) {
        submitted.put(
                Orders.JOB.job(),
                new TrainingJob(
                        Orders.JOB.job(),
                        new DomainId("d"),
                        at,
                        "train",
                        new TrainingJob.Scaling(1, 1, 1, true),
                        TrainingJob.Precedence.USUAL,
                        new TrainingJob.Traits(
                                new BatchRange(32, 256, 8, 64, Optional.empty()),
                                new GoodputProfile(
                                        new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                                new RescaleCosts(ofSeconds(5), ofSeconds(1))),
                        "process",
                        Optional.empty()));
    }

    private void writeProgram() throws IOException {
        program("jobs/train.json", """
            {"mode": "restart", "graceSeconds": 1,
             "command": ["sh", "-c", "echo $CUDA_VISIBLE_DEVICES of $WORLD_SIZE >> started; sleep 300"]}
            """);
    }

    private List<String> started() throws IOException {
        var file = folder.resolve("programs/started");
        return Files.exists(file) ? Files.readAllLines(file).stream().sorted().toList() : List.of();
    }

    private Adopted takenOver(Process process, String... gpus) {
        Adopted adopted = adopted(process, gpus);
        driver.take(place(1, Orders.JOB, Orders.gpus(gpus), List.of(), adopted));
        hears(new DriverEvent.Started(Orders.JOB, Orders.gpus(gpus)));
        hears(new DriverEvent.InForce(Orders.JOB, Orders.decision(1)));
        return adopted;
    }

    private void awaitStarted(String... lines) {
        await().atMost(ofSeconds(10))
                .pollInterval(ofMillis(20))
                .untilAsserted(() -> assertThat(started()).containsExactly(lines));
    }

    @Test
    void aJobIsTakenOverAndAChangeEndsItWithACheckpointAndStartsItAtTheNewSize() throws Exception {
        writeProgram();
        Adopted adopted = takenOver(stranger(CHECKPOINTS), "GPU-a", "GPU-b");
        assertThat(strangers.running()).hasSize(2);

        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-a", "GPU-c", "GPU-d"), Orders.gpus("GPU-b"), adopted));

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), false, ""));
        await().atMost(ofSeconds(10)).until(() -> started().size() == 3);
        assertThat(started()).containsExactly("GPU-a of 3", "GPU-c of 3", "GPU-d of 3");
        assertThat(folder.resolve("strangers/checkpoint")).hasContent("saved\n");
        assertThat(strangers.running()).isEmpty();
        assertThat(heard.progress()).isEmpty();

        driver.take(place(3, Orders.JOB, Orders.gpus("GPU-a"), Orders.gpus("GPU-c", "GPU-d"), adopted));
        await().atMost(ofSeconds(10)).until(() -> started().contains("GPU-a of 1"));
    }

    @Test
    void aJobThatGetsGpusOfAnotherMachineIsStartedAgainAlthoughItKeepsThoseOfThisOne() throws Exception {
        driver.close();
        machine = Optional.of(new Machine(new NodeId("n1"), new RendezvousPorts(29500, 29999)));
        driver = opened();
        for (String node : List.of("n1", "n2")) {
            nodes.put(
                    new GpuId("GPU-" + node),
                    new Node(
                            new NodeId(node),
                            new DomainId("d"),
                            Pool.TRAINING,
                            "boot",
                            Orders.BY,
                            NodeStatus.READY,
                            List.of()));
        }
        writeProgram();
        Adopted adopted = takenOver(stranger(CHECKPOINTS), "GPU-n1");

        driver.take(new Order.Place(
                Orders.decision(2),
                Orders.JOB,
                Orders.gpus("GPU-n1"),
                List.of(),
                Optional.of(new Allocation(Orders.gpus("GPU-n1", "GPU-n2"), 16, 0, 1, Mechanism.RESTART)),
                Orders.BY,
                List.of(),
                List.of(adopted)));

        awaitStarted("GPU-n1 of 2");
        assertThat(folder.resolve("strangers/checkpoint")).hasContent("saved\n");
    }

    @Test
    void aChangeIsNotWaitedForWhenTheProcessIgnoresSigterm() throws Exception {
        writeProgram();
        Adopted adopted = takenOver(stranger(IGNORES_SIGTERM), "GPU-a", "GPU-b");

        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), adopted));

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), true, ""));
        awaitStarted("GPU-a of 1");
        assertThat(strangers.running()).isEmpty();
    }

    /** Nothing that runs is ended only to start what cannot be started. */
    @Test
    void aProgramWhoseFileIsMissingIsNotStartedInPlaceOfTheProcess() throws Exception {
        program("jobs/train.json", "{\"mode\": \"restart\", \"command\": [\"/no/such/train\"]}");
        Adopted adopted = takenOver(stranger(CHECKPOINTS), "GPU-a", "GPU-b");

        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), adopted));

        assertThat(failure()).contains("runs on as it is", "its program /no/such/train does not exist");
        stays(() -> assertThat(strangers.running()).hasSize(2));
    }

    @Test
    void withoutAProgramAChangeFailsBeforeAnythingIsStoppedButTheJobCanBeGivenUp() throws Exception {
        Adopted adopted = takenOver(stranger(CHECKPOINTS), "GPU-a", "GPU-b");

        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), adopted));

        assertThat(failure())
                .contains(adopted.user(), "runs on as it is", "jobs/train.json cannot be read", "create it");
        stays(() -> assertThat(strangers.running()).hasSize(2));

        driver.take(place(3, Orders.JOB, List.of(), Orders.gpus("GPU-a", "GPU-b")));
        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-a", "GPU-b"), false, ""));
        hears(new DriverEvent.InForce(Orders.JOB, Orders.decision(3)));
        assertThat(folder.resolve("strangers/checkpoint")).exists();
        assertThat(heard.progress()).as("it is not over").isEmpty();

        writeProgram();
        driver.take(place(4, Orders.JOB, Orders.gpus("GPU-e"), List.of()));
        awaitStarted("GPU-e of 1");
    }

    @Test
    void aJobThatEndsByItselfIsOverAndNotStartedAgainUntilItIsSubmittedAgain() throws Exception {
        writeProgram();
        Adopted adopted = takenOver(stranger("sleep 3; exit 0"), "GPU-a");

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-a"), false, DriverEvents.ENDED_WITHOUT_STATUS));
        assertThat(heard.progress()).extracting(TrainingProgress::phase).containsExactly(JobPhase.FAILED);
        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-b"), List.of()));
        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), false, DriverEvents.ENDED_WITHOUT_STATUS));
        restart();
        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-a"), List.of(), adopted));
        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-a"), false, DriverEvents.ENDED_WITHOUT_STATUS));
        assertThat(own()).isEmpty();

        submit(Instant.now().plusSeconds(1));
        driver.take(place(3, Orders.JOB, Orders.gpus("GPU-c"), List.of()));
        awaitStarted("GPU-c of 1");
    }

    @Test
    void aWrapperThatEndsLeavesItsTrainingRunningAndTheJobIsNotStartedASecondTime() throws Exception {
        writeProgram();
        takenOver(stranger("sleep 300 & sleep 0.6; exit 0"), "GPU-a");

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-a"), false, DriverEvents.OTHERS_RUN_ON)
                .leavingOthers(true));
        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-b"), List.of()));
        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), false, DriverEvents.ENDED_WITHOUT_STATUS));
        assertThat(strangers.running()).hasSize(1);
        assertThat(own()).isEmpty();
    }

    @Test
    void theNextDriverGoesOnAndReportsAnEndThatNoDriverSaw() throws Exception {
        writeProgram();
        Process process = stranger(ENDS);
        Adopted adopted = takenOver(process, "GPU-a");
        restart();
        driver.take(place(1, Orders.JOB, Orders.gpus("GPU-a"), List.of(), adopted));
        hears(new DriverEvent.InForce(Orders.JOB, Orders.decision(1)));
        driver.close();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();

        restart();

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-a"), false, DriverEvents.ENDED_WITHOUT_STATUS));
        assertThat(own()).isEmpty();
    }

    @Test
    void theNextDriverCompletesAChange() throws Exception {
        program("jobs/train.json", """
            {"mode": "restart", "graceSeconds": 60, "command": ["sh", "-c", "echo $WORLD_SIZE >> started; sleep 300"]}
            """);
        Adopted adopted = takenOver(stranger(IGNORES_SIGTERM), "GPU-a", "GPU-b");
        Order.Place change = place(2, Orders.JOB, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), adopted);
        driver.take(change);
        driver.close();
        strangers.close();

        restart();
        driver.take(change);

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), false, ""));
        awaitStarted("1");
        assertThat(heard.progress()).as("it was to end").isEmpty();
    }

    @Test
    void anOrderDuringAChangeReplacesIt() throws Exception {
        writeProgram();
        Adopted adopted = takenOver(stranger(IGNORES_SIGTERM), "GPU-a", "GPU-b");
        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), adopted));
        driver.take(place(3, Orders.JOB, Orders.gpus("GPU-b", "GPU-c"), Orders.gpus("GPU-a"), adopted));

        driver.take(new Order.Force(Orders.decision(3), Orders.JOB, Orders.gpus("GPU-a")));

        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-a"), true, ""));
        awaitStarted("GPU-b of 2", "GPU-c of 2");
    }

    @Test
    void twoProcessesOfOneJobAreRefusedAndAnUndoneAdoptionIsGivenUp() throws Exception {
        Process first = stranger(ENDS);
        Process second = stranger(ENDS);
        driver.take(place(
                1,
                Orders.JOB,
                Orders.gpus("GPU-a", "GPU-b"),
                List.of(),
                adopted(first, "GPU-a"),
                adopted(second, "GPU-b")));
        assertThat(failure()).contains("a job has one process on a machine");
        assertThat(strangers.running()).hasSize(4);

        takenOver(first, "GPU-a");
        driver.take(new Order.Force(Orders.decision(1), Orders.JOB, Orders.gpus("GPU-a")));
        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-a"), false, "given up; it runs on"));
        assertThat(strangers.running()).hasSize(4);
    }

    @Test
    void aJobThatLendstreamRunsDoesNotMoveToTheUnitsOfAStranger() throws Exception {
        writeProgram();
        driver.take(place(1, Orders.JOB, Orders.gpus("GPU-a"), List.of()));
        awaitStarted("GPU-a of 1");
        Adopted other = adopted(stranger(ENDS), "GPU-b");

        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-b"), List.of(), other));

        assertThat(failure()).isEqualTo(other.user() + " is not taken over: Lendstream runs job job already");
        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), false, failure()));
        stays(() -> {
            assertThat(started()).containsExactly("GPU-a of 1");
            assertThat(own()).isNotEmpty();
            assertThat(strangers.running()).hasSize(2);
        });
    }

    @Test
    void aProcessThatNoOrderKnowsIsGivenUpAndRunsOn() throws Exception {
        writeProgram();
        takenOver(stranger(ENDS), "GPU-a");
        restart();

        driver.take(place(2, Orders.JOB, Orders.gpus("GPU-b"), List.of()));

        awaitStarted("GPU-b of 1");
        assertThat(strangers.running()).hasSize(2);
    }

    @Test
    void anotherUnitThanThoseOfTheProcessIsForcedWithoutIt() throws Exception {
        writeProgram();
        takenOver(stranger(ENDS), "GPU-a");

        driver.take(new Order.Force(Orders.decision(2), Orders.JOB, Orders.gpus("GPU-b")));
        hears(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("GPU-b"), true, ""));
        assertThat(strangers.running()).hasSize(2);

        driver.take(new Order.Force(Orders.decision(2), Orders.JOB, Orders.gpus("GPU-a", "GPU-b")));
        await().atMost(ofSeconds(5)).until(() -> strangers.running().isEmpty());
    }
}
