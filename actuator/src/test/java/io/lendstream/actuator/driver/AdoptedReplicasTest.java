package io.lendstream.actuator.driver;

import static io.lendstream.actuator.adoption.Strangers.stays;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Adopted;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Replicas that something else has started. */
class AdoptedReplicasTest extends AdoptionFixture {
    @BeforeEach
    void write() throws IOException {
        program(
                "services/chat.json",
                "{\"command\": [\"sh\", \"-c\", \"echo $CUDA_VISIBLE_DEVICES >> started; sleep 300\"]}");
    }

    private boolean hasStarted(String gpu) throws IOException {
        var file = folder.resolve("programs/started");
        return Files.exists(file) && Files.readAllLines(file).contains(gpu);
    }

    private Adopted takenOver(long decision, Process process, String... gpus) {
        Adopted adopted = adopted(process, gpus);
        driver.take(place(decision, Orders.CHAT, Orders.gpus(gpus), List.of(), adopted));
        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus(gpus)));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(decision)));
        return adopted;
    }

    @Test
    void aReplicaOfSeveralUnitsIsTakenOverAndLaterStoppedLikeAnyOther() throws Exception {
        takenOver(1, stranger(ENDS), "GPU-a", "GPU-b");
        assertThat(own()).isEmpty();

        driver.take(place(2, Orders.CHAT, List.of(), Orders.gpus("GPU-a", "GPU-b")));

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), false, ""));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(2)));
        assertThat(strangers.running()).isEmpty();
    }

    @Test
    void otherReplicasAreStartedBesideIt() throws Exception {
        Process process = stranger(ENDS);
        driver.take(place(1, Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), List.of(), adopted(process, "GPU-a")));

        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-b")));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(1)));
        await().atMost(ofSeconds(5)).until(() -> hasStarted("GPU-b"));
        assertThat(hasStarted("GPU-a")).isFalse();

        driver.take(place(2, Orders.CHAT, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), adopted(process, "GPU-a")));
        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-b"), false, ""));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(2)));
        assertThat(process.isAlive()).isTrue();
    }

    @Test
    void aReplicaThatIgnoresSigtermIsKilledAtTheDeadline() throws Exception {
        takenOver(1, stranger(IGNORES_SIGTERM), "GPU-a");
        driver.take(place(2, Orders.CHAT, List.of(), Orders.gpus("GPU-a")));
        stays(() -> assertThat(strangers.running()).isNotEmpty());

        driver.take(new Order.Force(Orders.decision(2), Orders.CHAT, Orders.gpus("GPU-a")));

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), true, ""));
        assertThat(strangers.running()).isEmpty();
    }

    @Test
    void aReplicaThatEndsByItselfIsReportedAndAnotherOneCanStartThere() throws Exception {
        takenOver(1, stranger("sleep 3; exit 0"), "GPU-a");

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, DriverEvents.ENDED_WITHOUT_STATUS));
        assertThat(own()).isEmpty();
        driver.take(place(2, Orders.CHAT, Orders.gpus("GPU-a"), List.of()));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(2)));
        await().atMost(ofSeconds(5)).until(() -> hasStarted("GPU-a"));
    }

    @Test
    void aWrapperThatEndsLeavesItsServerRunning() throws Exception {
        takenOver(1, stranger("sleep 300 & sleep 0.7; exit 0"), "GPU-a");

        hears(new DriverEvent.Stopped(
                        Orders.CHAT,
                        Orders.gpus("GPU-a"),
                        false,
                        "its process has ended; others that it started run on")
                .leavingOthers(true));
        assertThat(strangers.running()).hasSize(1);
    }

    @Test
    void whatIsGoneIsRefusedButTheOthersOfTheOrderAreTakenOver() throws Exception {
        Process gone = stranger(ENDS);
        Adopted first = adopted(gone, "GPU-a");
        gone.destroyForcibly().waitFor();
        Adopted second = adopted(stranger(ENDS), "GPU-b");

        driver.take(place(1, Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), List.of(), first, second));

        String why = first.user() + " is not taken over: it has ended";
        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, why));
        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-b")));
        assertThat(own()).as("nothing is started in its place").isEmpty();
    }

    @Test
    void anotherReplicaThatStartsDoesNotFailWithAnAdoption() throws Exception {
        Process gone = stranger(ENDS);
        Adopted first = adopted(gone, "GPU-a");
        gone.destroyForcibly().waitFor();

        driver.take(place(2, Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), List.of(), first));

        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-b")));
        String why = first.user() + " is not taken over: it has ended";
        assertThat(heard.deeds())
                .contains(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, why))
                .noneMatch(DriverEvent.Failed.class::isInstance);

        driver.take(place(3, Orders.CHAT, Orders.gpus("GPU-a"), Orders.gpus("GPU-b"), first));
        assertThat(failure()).as("nothing of the order is there").isEqualTo(why);
    }

    @Test
    void twoProcessesOfOneUnitAndAUnitWithAnOwnReplicaAreRefused() throws Exception {
        Process second = stranger(ENDS);
        driver.take(place(
                1,
                Orders.CHAT,
                Orders.gpus("GPU-a", "GPU-b"),
                List.of(),
                adopted(stranger(ENDS), "GPU-a", "GPU-b"),
                adopted(second, "GPU-b")));
        await().atMost(ofSeconds(5)).until(() -> !heard.deeds().isEmpty());
        assertThat(second.isAlive()).isTrue();
        driver.take(place(2, Orders.CHAT, List.of(), Orders.gpus("GPU-a", "GPU-b")));
        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a", "GPU-b"), false, ""));
        assertThat(second.isAlive()).as("it was never taken over").isTrue();

        driver.take(place(3, Orders.CHAT, Orders.gpus("GPU-c"), List.of()));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(3)));
        driver.take(place(4, Orders.CHAT, Orders.gpus("GPU-c"), List.of(), adopted(second, "GPU-c")));
        assertThat(failure()).contains("Lendstream runs a replica");
        assertThat(second.isAlive()).isTrue();
    }

    @Test
    void theNextDriverGoesOnAndStartsNothing() throws Exception {
        Adopted adopted = takenOver(1, stranger(ENDS), "GPU-a");
        restart();

        driver.take(place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of(), adopted));

        hears(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-a")));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(1)));
        assertThat(own()).isEmpty();
    }

    @Test
    void whatEndedWithoutADriverIsReportedByTheNextAndNotStartedInItsPlace() throws Exception {
        Process process = stranger(ENDS);
        Adopted adopted = takenOver(1, process, "GPU-a");
        driver.close();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().waitFor();
        restart();

        driver.take(place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of(), adopted));

        await().atMost(ofSeconds(5))
                .until(() -> heard.deeds().stream()
                        .anyMatch(each -> each instanceof DriverEvent.Stopped stopped
                                && stopped.units().equals(Orders.gpus("GPU-a"))
                                && stopped.reason().contains("ended")));
        restart();
        driver.take(place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of(), adopted));
        assertThat(failure()).contains("has ended");
        assertThat(own()).isEmpty();
    }

    @Test
    void anUndoneAdoptionLeavesTheProcessRunning() throws Exception {
        Process process = stranger(ENDS);
        takenOver(1, process, "GPU-a");

        driver.take(new Order.Force(Orders.decision(1), Orders.CHAT, Orders.gpus("GPU-a")));

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, "given up; it runs on"));
        assertThat(strangers.running()).hasSize(2);
        takenOver(2, process, "GPU-a");
    }

    @Test
    void anAdoptionThatWasOrderedTogetherWithALaterDecisionIsUndoneByItsOwn() throws Exception {
        takenOver(2, stranger(ENDS), "GPU-a");

        driver.take(new Order.Force(Orders.decision(1), Orders.CHAT, Orders.gpus("GPU-a")));

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, "given up; it runs on"));
        assertThat(strangers.running()).hasSize(2);
    }

    @Test
    void whatNoOrderKnowsIsGivenUpAndRunsOn() throws Exception {
        takenOver(1, stranger(ENDS), "GPU-a");
        Adopted known = adopted(stranger(ENDS), "GPU-b");
        restart();

        driver.take(place(2, Orders.CHAT, Orders.gpus("GPU-b"), List.of(), known));

        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(2)));
        assertThat(heard.deeds()).doesNotContain(new DriverEvent.Started(Orders.CHAT, Orders.gpus("GPU-a")));
        driver.take(new Order.Force(Orders.decision(3), Orders.CHAT, Orders.gpus("GPU-a")));
        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), true, ""));
        assertThat(strangers.running()).hasSize(4);
    }

    @Test
    void afterARestartWhatHasNoOrderAtAllIsGivenUpUnlessItWasToEnd() throws Exception {
        Adopted kept = takenOver(1, stranger(ENDS), "GPU-a");
        restart();
        driver.resumed(Set.of(Orders.CHAT));
        driver.take(place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of(), kept));
        hears(new DriverEvent.InForce(Orders.CHAT, Orders.decision(1)));

        driver.resumed(Set.of());
        driver.take(place(2, Orders.CHAT, List.of(), Orders.gpus("GPU-a")));

        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-a"), false, ""));
        assertThat(strangers.running()).hasSize(2);

        takenOver(3, stranger(IGNORES_SIGTERM), "GPU-b");
        driver.take(place(4, Orders.CHAT, List.of(), Orders.gpus("GPU-b")));
        driver.resumed(Set.of());
        driver.take(new Order.Force(Orders.decision(4), Orders.CHAT, Orders.gpus("GPU-b")));
        hears(new DriverEvent.Stopped(Orders.CHAT, Orders.gpus("GPU-b"), true, ""));
        assertThat(strangers.running()).hasSize(2);
    }

    @Test
    void aDryRunSaysWhatIsTakenOver() throws Exception {
        Adopted adopted = adopted(stranger(ENDS), "GPU-a");

        assertThat(driver.plan(place(1, Orders.CHAT, Orders.gpus("GPU-a"), List.of(), adopted)))
                .containsExactly("take over %s as service chat on [GPU-a], as it is".formatted(adopted.user()));
    }
}
