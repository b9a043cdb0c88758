package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.seconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bert has t1, and i1 and i2 on loan until 100 s after noon; Gpt has i3 on loan until then and i4 until 200 s. */
class LeaseExpiryTest {
    private static final DecisionId FIRST = new DecisionId(DOMAIN, 1, 1);
    private static final DecisionId SECOND = new DecisionId(DOMAIN, 1, 2);

    private final ActuationState state = new ActuationState("a", seconds(45), ScriptedDriver.ABLE);

    @BeforeEach
    void theLeasesOfThreeGpusEnd() {
        state.startBinding(BERT, gpus("t1"));
        lend(BERT, FIRST, 100, "i1", "i2");
        lend(GPT, SECOND, 100, "i3");
        lend(GPT, SECOND, 200, "i4");
        state.reach(at(100));
        new LeaseExpiry(state).end(at(100));
    }

    private void lend(Tenant tenant, DecisionId granted, double until, String... names) {
        List<GpuId> lent = gpus(names);
        state.startBinding(tenant, lent);
        state.lend(tenant, lent, new Holding.Loan(granted, at(until)));
    }

    @Test
    void eachJobIsOrderedToLeaveWithinTheNotice() {
        assertThat(state.orders().take())
                .containsExactly(
                        new Order.Place(FIRST, BERT, gpus("t1"), gpus("i1", "i2"), Optional.empty(), at(145)),
                        new Order.Place(SECOND, GPT, gpus("i4"), gpus("i3"), Optional.empty(), at(145)));
    }

    @Test
    void eachReleaseIsAwaitedUnderTheDecisionThatGrantedTheLease() {
        String reason = "lease ran out at " + at(100);

        assertThat(state.steps().all())
                .extracting(PendingStep::kind, PendingStep::decision, PendingStep::gpus, PendingStep::reason)
                .containsExactly(
                        tuple(PendingStep.Kind.RELEASE, FIRST, gpus("i1", "i2"), reason),
                        tuple(PendingStep.Kind.RELEASE, SECOND, gpus("i3"), reason));
        assertThat(state.steps().all()).extracting(PendingStep::due).containsOnly(at(145));
    }

    @Test
    void theGpusAreOnTheirWayBackAndTheNextLeaseIsTheOneThatEndsLater() {
        assertThat(state.active(BERT)).containsExactlyElementsOf(gpus("t1"));
        assertThat(state.active(GPT)).containsExactlyElementsOf(gpus("i4"));
        assertThat(state.nextLeaseEnd()).contains(at(200));
        assertThat(state.loansEndingAt(at(100))).isEmpty();
    }
}
