package io.lendstream.core.simulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Holding;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.actuation.OrderSubject;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a simulated driver reports; a release takes 2 s, a bind 3 s, and a change is in force after 20 s. */
class SimulatedDriverTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Tenant JOB = new Tenant.Job(new JobId("bert"));
    private static final Tenant SERVICE = new Tenant.Service(new ServiceId("chat"));

    private ChangeTiming.FailureMode failure = ChangeTiming.FailureMode.NONE;
    private SimulatedDriver driver = driver();

    private SimulatedDriver driver() {
        return new SimulatedDriver(facts ->
                new ChangeTiming(Duration.ofSeconds(2), Duration.ofSeconds(3), Duration.ofSeconds(20), failure));
    }

    private static Instant at(long second) {
        return NOON.plusSeconds(second);
    }

    private static DecisionId decision(long sequence) {
        return new DecisionId(new DomainId("d"), 1, sequence);
    }

    private static List<GpuId> gpus(String... names) {
        return Arrays.stream(names).map(GpuId::new).toList();
    }

    /** Orders a tenant to these units; whatever it is to leave it has to leave within 30 s. */
    private void place(long second, long sequence, Tenant tenant, String... units) {
        var allocation = new Allocation(gpus(units), 10, 0, 1, Mechanism.AFE);
        driver.take(
                new Order.Place(
                        decision(sequence), tenant, gpus(units), List.of(), Optional.of(allocation), at(second + 30)),
                OrderSubject.NOTHING,
                at(second));
    }

    /** What it reports from now on if nothing more is ordered, such as {@code 3 Started [t1]}. */
    private List<String> events() {
        var lines = new ArrayList<String>();
        while (driver.next().isPresent()) {
            long second = Duration.between(NOON, driver.next().get().at()).toSeconds();
            lines.add(second + " " + text(driver.takeNext()));
        }
        return lines;
    }

    private static String text(DriverEvent event) {
        if (event instanceof DriverEvent.Started started) {
            return "Started " + started.units();
        } else if (event instanceof DriverEvent.Stopped stopped) {
            return (stopped.forced() ? "killed " : "Stopped ") + stopped.units();
        } else if (event instanceof DriverEvent.InForce inForce) {
            return "InForce " + inForce.decision().sequence();
        } else if (event instanceof DriverEvent.Failed failed) {
            return "Failed " + failed.decision().sequence();
        }
        return event.toString();
    }

    @Test
    void aTenantStartsOnWhatItGetsOnceItHasLeftWhatItIsToLeave() {
        place(0, 1, JOB, "t1", "t2");
        assertThat(events()).containsExactly("3 Started [t1, t2]", "20 InForce 1");

        place(100, 2, JOB, "t2", "t3");

        assertThat(events()).containsExactly("102 Stopped [t1]", "105 Started [t3]", "120 InForce 2");
    }

    @Test
    void aJobsOlderChangeIsInForceWithItsNewest() {
        place(0, 1, JOB, "t1");
        place(10, 2, JOB, "t1");

        assertThat(events()).containsExactly("3 Started [t1]", "30 InForce 2");
    }

    @Test
    void aServicesChangesAreInForceInTheirOrder() {
        place(0, 1, SERVICE, "i1");
        place(10, 2, SERVICE, "i1", "i2");

        assertThat(events()).containsExactly("3 Started [i1]", "13 Started [i2]", "20 InForce 1", "30 InForce 2");
    }

    @Test
    void aUnitThatATenantIsToLeaveBeforeItHasStartedThereIsOnlyReportedStopped() {
        place(0, 1, JOB, "t1", "t2");
        place(1, 2, JOB, "t1");

        assertThat(events()).containsExactly("3 Stopped [t2]", "3 Started [t1]", "21 InForce 2");
    }

    @Test
    void aTenantThatIsStuckSaysNothingUntilItIsKilled() {
        place(0, 1, JOB, "t1");
        events();
        failure = ChangeTiming.FailureMode.STUCK_RELEASE;
        place(100, 2, JOB);
        assertThat(driver.expected()).extracting(event -> text(event.event())).containsExactly("InForce 2");

        driver.take(new Order.Force(decision(2), JOB, gpus("t1")), OrderSubject.NOTHING, at(130));

        assertThat(events()).containsExactly("130 killed [t1]", "130 InForce 2");
    }

    @Test
    void aKillIsAnsweredEachTimeItIsOrdered() {
        driver.take(new Order.Force(decision(2), JOB, gpus("t1")), OrderSubject.NOTHING, at(130));
        assertThat(events()).containsExactly("130 killed [t1]");

        driver.take(new Order.Force(decision(2), JOB, gpus("t1")), OrderSubject.NOTHING, at(140));
        assertThat(events()).containsExactly("140 killed [t1]");
    }

    @Test
    void whatDoesNotStartHasFailedAndIsNotInForce() {
        failure = ChangeTiming.FailureMode.BIND_FAILS;
        place(0, 1, JOB, "t1");

        assertThat(events()).containsExactly("3 Failed 1");
    }

    @Test
    void anOrderThatTakesUnitsOutUnderTheSameDecisionSettlesNothingAgain() {
        place(0, 1, JOB, "t1", "t2");
        place(10, 1, JOB, "t1");

        assertThat(events()).containsExactly("3 Started [t1]", "12 Stopped [t2]", "20 InForce 1");
    }

    @Test
    void nothingIsReportedOfUnitsThatAreLost() {
        place(0, 1, JOB, "t1", "t2");
        driver.lose(gpus("t2"));

        assertThat(events()).containsExactly("3 Started [t1]", "20 InForce 1");
        place(100, 2, JOB, "t1", "t2");
        assertThat(events()).contains("103 Started [t2]");
    }

    @Test
    void goesOnAfterARestart() {
        place(0, 1, JOB, "t1");
        place(1, 2, SERVICE, "i1");
        var saved = driver.expected();
        driver = driver();
        driver.restore(
                List.of(
                        new Holding(new GpuId("t1"), JOB, Holding.Phase.BINDING, Optional.empty()),
                        new Holding(new GpuId("i1"), SERVICE, Holding.Phase.BINDING, Optional.empty())),
                List.of(new Order.Place(decision(1), JOB, gpus("t1"), List.of(), Optional.empty(), at(30))),
                saved);

        place(2, 3, JOB, "t1", "t2");

        assertThat(events())
                .containsExactly("3 Started [t1]", "4 Started [i1]", "5 Started [t2]", "21 InForce 2", "22 InForce 3");
    }

    @Test
    void nothingIsInForceBeforeAnEarlierStartHasSucceededOrFailed() {
        failure = ChangeTiming.FailureMode.BIND_FAILS;
        place(0, 1, SERVICE, "i1");
        failure = ChangeTiming.FailureMode.NONE;
        var batching = new Action.Batching(
                new ServiceId("chat"), gpus("i1"), Optional.empty(), List.of(new Bucket(1, 8, Duration.ZERO)));

        driver.take(new Order.Batch(decision(2), batching), OrderSubject.NOTHING, at(1));

        assertThat(events()).containsExactly("3 Failed 1", "3 InForce 2");
    }

    @Test
    void aFailedStartDoesNotBringForwardWhatIsInForceLater() {
        place(0, 1, JOB, "t1");
        failure = ChangeTiming.FailureMode.BIND_FAILS;
        place(10, 2, JOB, "t1", "t2");

        assertThat(events()).containsExactly("3 Started [t1]", "13 Failed 2", "20 InForce 1");
    }

    /** Whether the driver takes a job as paused when it starts on other units after a pause. */
    private boolean isPausedAfter(Runnable meanwhile) {
        List<Boolean> paused = new ArrayList<>();
        driver = new SimulatedDriver(facts -> {
            paused.add(facts.paused());
            return new ChangeTiming(Duration.ofSeconds(2), Duration.ofSeconds(3), Duration.ofSeconds(20), failure);
        });
        place(0, 1, JOB, "t1");
        events();
        driver.take(
                new Order.Place(
                        decision(2),
                        JOB,
                        List.of(),
                        gpus("t1"),
                        Optional.of(Allocation.suspended(Mechanism.PAUSE)),
                        at(60)),
                OrderSubject.NOTHING,
                at(30));
        events();
        meanwhile.run();
        place(90, 3, JOB, "t2");
        assertThat(paused).startsWith(false, false).hasSize(3);
        return paused.get(2);
    }

    @Test
    void aPausedJobIsKnownUntilItsNodeIsLost() {
        assertThat(isPausedAfter(() -> {})).isTrue();
        assertThat(isPausedAfter(() -> driver.lose(gpus("t2")))).isTrue();
        assertThat(isPausedAfter(() -> driver.lose(gpus("t1")))).isFalse();
        assertThat(isPausedAfter(
                        () -> driver.take(new Order.Force(decision(2), JOB, gpus("t1")), OrderSubject.NOTHING, at(80))))
                .isFalse();
    }

    @Test
    void aPausedJobIsKnownAfterARestart() {
        List<Boolean> paused = new ArrayList<>();
        driver = new SimulatedDriver(facts -> {
            paused.add(facts.paused());
            return new ChangeTiming(Duration.ofSeconds(2), Duration.ofSeconds(3), Duration.ofSeconds(20), failure);
        });
        driver.restore(
                List.of(),
                List.of(new Order.Place(
                        decision(2),
                        JOB,
                        List.of(),
                        gpus("t1"),
                        Optional.of(Allocation.suspended(Mechanism.PAUSE)),
                        at(60))),
                List.of());

        place(90, 3, JOB, "t2");

        assertThat(paused).containsExactly(true);
    }

    @Test
    void aLeaseThatEndsUnderAnEarlierDecisionLeavesTheLaterOneInForceLater() {
        place(0, 1, JOB, "t1", "i1");
        driver.take(
                new Order.Place(
                        decision(2),
                        JOB,
                        gpus("t1", "i1"),
                        List.of(),
                        Optional.of(new Allocation(gpus("t1", "i1"), 10, 0, 1, Mechanism.AFE)),
                        at(60)),
                OrderSubject.NOTHING,
                at(1));
        driver.take(
                new Order.Place(decision(1), JOB, gpus("t1"), gpus("i1"), Optional.empty(), at(60)),
                OrderSubject.NOTHING,
                at(10));

        assertThat(events()).containsExactly("3 Started [t1]", "12 Stopped [i1]", "21 InForce 2");
    }
}
