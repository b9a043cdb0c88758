package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An actuator that knows tenants only from an earlier stock, because their decisions are gone. */
class StockRecallTest {
    private static final Tenant.Job JOB = new Tenant.Job(new JobId("job"));
    private static final Tenant.Service CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final GpuId OWN = RandomDecisions.GPUS.get(0);
    private static final GpuId LENT = RandomDecisions.INFERENCE.get(0);
    private static final GpuId SERVING = RandomDecisions.INFERENCE.get(1);
    private static final DecisionId SEVEN = new DecisionId(RandomDecisions.DOMAIN, 1, 7);

    private final Actuation actuation = RandomDecisions.actuation(ScriptedDriver.ABLE);

    @Test
    void tenantsOfTheStockHaveTheirGpusAndTheirOrders() {
        recall(10, CHAT, SERVING);
        recall(10, JOB, OWN);

        assertThat(actuation.holdings())
                .containsExactlyInAnyOrder(
                        new Holding(SERVING, CHAT, Holding.Phase.BOUND, Optional.empty()),
                        new Holding(OWN, JOB, Holding.Phase.BOUND, Optional.empty()));
        assertThat(actuation.resume(at(20), false))
                .containsExactlyInAnyOrder(
                        new Order.Place(SEVEN, CHAT, List.of(SERVING), List.of(), Optional.empty(), at(10)),
                        new Order.Place(SEVEN, JOB, List.of(OWN), List.of(), Optional.empty(), at(10)));
    }

    @Test
    void aDecisionTakesWhatTheStockGaveAndAnEndIsReported() {
        recall(10, CHAT, SERVING);

        List<ActuationReport> reports =
                actuation.done(new DriverEvent.Stopped(CHAT, List.of(SERVING), false, ""), at(11));

        assertThat(reports).extracting(ActuationReport::outcome).containsExactly(Outcome.RELEASED);
        assertThat(actuation.holdings()).isEmpty();
    }

    @Test
    void aJobHasInferenceGpusUntilTheLeaseEndsUnlessItIsRenewed() {
        recall(10, JOB, LENT);
        assertThat(actuation.nextEventAt()).contains(at(100));

        actuation.take(
                new Decision(
                        new DecisionId(RandomDecisions.DOMAIN, 1, 8),
                        at(20),
                        at(80),
                        false,
                        new Reason("lease", "", Map.of(), List.of()),
                        new Action.Renew(List.of(LENT), at(300))),
                at(20));
        actuation.orders();

        actuation.advance(at(299));
        assertThat(actuation.orders()).isEmpty();
        actuation.advance(at(300));
        assertThat(actuation.orders())
                .singleElement()
                .satisfies(order -> assertThat(((Order.Place) order).leaving()).containsExactly(LENT));
    }

    @Test
    void gpusWithATenantAndGpusThatAreNotDeclaredAreLeftOut() {
        recall(10, CHAT, SERVING);
        recall(11, JOB, SERVING);
        recall(12, JOB, new GpuId("gone"));

        assertThat(actuation.holdings()).extracting(Holding::tenant).containsExactly(CHAT);
    }

    private void recall(double second, Tenant tenant, GpuId... gpus) {
        var stock = new ActuationReport(
                RandomDecisions.DOMAIN,
                SEVEN,
                "actuator",
                at(second),
                Outcome.HOLDS,
                List.of(gpus),
                Optional.of(tenant),
                Timings.NONE,
                "");
        assertThat(actuation.recall(stock, at(100))).isEmpty();
    }

    private static Instant at(double second) {
        return RandomDecisions.START.plusMillis(Math.round(second * 1000));
    }
}
