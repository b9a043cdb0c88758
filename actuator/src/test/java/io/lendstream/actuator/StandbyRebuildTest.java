package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An instance without saved state takes over, and the topics begin at different times. */
class StandbyRebuildTest extends StandbyFixture {
    /** The topics keep 30 days; a replica may run longer without a decision. */
    @Test
    void tenantsOfForgottenDecisionsAreKnownFromTheOldestStock() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        killed();
        broker.log("lendstream.decisions").clear();
        forgetReports(outcomes().size());
        assertThat(outcomes()).isEmpty();
        orders.clear();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(2);
        assertThat(orders).containsExactly("2 job job i1,t1");
        decide(3, new Action.Resize(JOB, gpus(), allocation()));
        awaitTurning(two, "3 RELEASED i1,t1");
    }

    /** Topics are deleted by segments, so decisions may reach back further than reports. */
    @Test
    void decisionsWhoseAnswersAreGoneAreNotTakenAgain() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        forgetReports(outcomes().size());
        decide(3, new Action.Serve(CHAT, gpus("i2"), false));
        awaitTurning(one, "3 APPLIED i2");
        List<String> before = outcomes();
        killed();
        orders.clear();

        ActuatorService two = started("two");
        turnAt(two, 63);
        turnAt(two, 64);
        assertThat(orders).containsExactlyInAnyOrder("2 job job i1,t1", "3 service chat i2");
        decide(4, new Action.Resize(JOB, gpus(), allocation()));
        awaitTurning(two, "4 RELEASED i1,t1");
        assertThat(outcomes()).startsWith(before.toArray(String[]::new)).doesNotHaveDuplicates();
        assertThat(outcomes()).filteredOn(each -> !each.startsWith("4")).isEqualTo(before);
    }

    @Test
    void aLoanThatIsKnownFromAStockHasTheLeaseOfItsRenewals() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        forgetReports(outcomes().size());
        decide(3, new Action.Renew(gpus("i1"), NOON.plusSeconds(8000)));
        awaitTurning(one, "3 APPLIED i1");
        turnAt(one, 7000);
        decide(4, new Action.Renew(gpus("i1"), NOON.plusSeconds(9000)));
        awaitTurning(one, "4 APPLIED i1");
        killed();
        broker.log("lendstream.decisions").subList(0, 3).clear();
        orders.clear();

        ActuatorService two = started("two");
        turnAt(two, 8999);
        assertThat(orders).containsExactly("2 job job i1,t1");
        assertThat(outcomes()).noneMatch(outcome -> outcome.contains("RELEASED"));
        turnAt(two, 9000);
        turnAt(two, 9001);
        assertThat(orders).contains("2 job job t1");
    }

    @Test
    void theLastTenantBeforeTheFirstKnownDecisionCounts() {
        ActuatorService one = started("one");
        turnAt(one, 0);
        turnAt(one, 1);
        awaitTurning(one, "2 APPLIED i1,t1");
        awaitStock(one, 62);
        decide(3, new Action.Resize(JOB, gpus("t1"), allocation("t1")));
        awaitTurning(one, "3 RELEASED i1");
        turnAt(one, 63);
        decide(4, new Action.Serve(CHAT, gpus("i1"), false));
        awaitTurning(one, "4 APPLIED i1");
        killed();
        broker.log("lendstream.decisions").clear();
        orders.clear();

        ActuatorService two = started("two");
        assertThat(two.actuation().heldGpus()).isEqualTo(2);
        assertThat(orders).containsExactlyInAnyOrder("1 job job t1", "4 service chat i1");
    }
}
