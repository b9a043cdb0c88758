package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.service.fake.FakeBroker.Outage;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One instance of an actuator takes over from another. */
class StandbyTakeoverTest extends StandbyFixture {
    @Test
    void whileAnotherInstanceMayBeActiveItTakesNoDecisionAndGpusOnLoanBack() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        tenure.mayStart = false;
        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitRead(3);
        orders.clear();

        turnAt(one, 301);
        turnAt(one, 302);

        assertThat(orders).containsExactly("2 job job t1");
        assertThat(one.actuation().heldGpus()).isEqualTo(1);
        assertThat(outcomes()).noneMatch(outcome -> outcome.startsWith("3 ") || outcome.contains("RELEASED"));

        tenure.mayStart = true;
        orders.clear();
        awaitTurning(one, "3 BOUND i2");
        assertThat(orders).containsExactly("2 job job t1", "3 service chat i2");
        assertThat(outcomes()).contains("2 RELEASED i1").doesNotHaveDuplicates();
    }

    /** The group may not answer for a moment between two turns, in which the driver drops what it is to start. */
    @Test
    void ordersThatTheDriverHasDroppedAreGivenAgain() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        orders.clear();
        turnAt(one, 2);
        assertThat(orders).isEmpty();

        hasDropped.set(true);
        turnAt(one, 3);
        turnAt(one, 4);
        assertThat(orders).containsExactly("2 job job i1,t1");
    }

    @Test
    void anInstanceWithoutStateGoesOnFromTheTopicsWithTheLeasesOfTheOther() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        List<String> before = outcomes();
        killed();
        orders.clear();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(2);
        assertThat(orders).containsExactly("2 job job i1,t1");
        turnAt(two, 10);
        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitTurning(two, "3 BOUND i2");
        assertThat(outcomes()).containsAll(before).hasSize(before.size() + 3).doesNotHaveDuplicates();

        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");
        assertThat(outcomes()).doesNotHaveDuplicates();
    }

    @Test
    void anInstanceOnStandbyFollowsWithoutOrdersAndReportsAndTakesOverFromThere() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        List<String> before = outcomes();
        orders.clear();

        follow("two");
        assertThat(orders).isEmpty();
        assertThat(outcomes()).isEqualTo(before);
        assertThat(saved("two").actuation().holdings()).hasSize(2);
        assertThat(saved("two").outbox().reports()).isEmpty();

        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitTurning(one, "3 APPLIED i2");
        killed();
        assertThat(isContradicted("two")).isFalse();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(3);
        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");
        assertThat(outcomes()).doesNotHaveDuplicates();
    }

    @Test
    void aDecisionThatIsAnsweredWhileAnInstanceOnStandbyReadsTheReportsIsNotTakenAgain() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        clients.beforeReports(() -> {
            clients.beforeReports(() -> {});
            decide(3, new Action.Serve(CHAT, gpus("i2"), false));
            awaitTurning(one, "3 APPLIED i2");
        });
        follow("two");
        List<String> before = outcomes();
        killed();
        orders.clear();
        assertThat(saved("two").actuation().holdings()).hasSize(3);

        ActuatorService two = started("two");
        turnAt(two, 2);
        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");
        assertThat(outcomes()).startsWith(before.toArray(String[]::new)).hasSize(before.size() + 1);
    }

    @Test
    void aStateOfWhichReportsWereNeverSentCountsUnlessAnotherInstanceHasReportedSince() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        broker.outage(Outage.AWAY);
        turnAt(one, 301);
        turnAt(one, 302);
        killed();
        broker.outage(Outage.NONE);
        assertThat(saved("one").outbox().reports()).hasSize(1);
        assertThat(isContradicted("one")).isFalse();

        ActuatorService two = started("two");
        turnAt(two, 303);
        awaitTurning(two, "2 RELEASED i1");

        assertThat(isContradicted("one")).isTrue();
        assertThat(isContradicted("two")).isFalse();
    }

    @Test
    void allInstancesHaveOneWriterWhichTheNextOneFences() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        killed();
        ActuatorService two = started("two");
        turnAt(two, 301);
        awaitTurning(two, "2 RELEASED i1");

        assertThat(clients.transactionalIds())
                .hasSizeGreaterThanOrEqualTo(2)
                .containsOnly("lendstream.actuator-actuator");
    }
}
