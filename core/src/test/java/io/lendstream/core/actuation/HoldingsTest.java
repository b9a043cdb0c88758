package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HoldingsTest {
    private final Holdings holdings = new Holdings();

    private static Holding holding(String gpu, Tenant tenant, Holding.Phase phase) {
        return new Holding(new GpuId(gpu), tenant, phase, Optional.empty());
    }

    /** One on loan to Bert until a second. */
    private static Holding lent(String gpu, double until) {
        var loan = new Holding.Loan(new DecisionId(DOMAIN, 1, 1), at(until));
        return holding(gpu, BERT, Holding.Phase.BOUND).onLoan(loan);
    }

    @Test
    void aGpuHasTheTenantThatItGotLast() {
        Holding last = holding("t1", GPT, Holding.Phase.BINDING);

        holdings.put(holding("t1", BERT, Holding.Phase.BOUND));
        holdings.put(last);

        assertThat(holdings.of(new GpuId("t1"))).contains(last);
        assertThat(holdings.of(BERT)).isEmpty();
        assertThat(holdings.of(GPT)).containsExactlyElementsOf(gpus("t1"));
        assertThat(holdings.size()).isEqualTo(1);
    }

    @Test
    void aTenantKeepsItsOtherGpusWhenOneIsRemoved() {
        Holding kept = holding("t2", BERT, Holding.Phase.BOUND);
        holdings.put(kept);
        holdings.put(holding("t1", BERT, Holding.Phase.BOUND));
        assertThat(holdings.all()).extracting(Holding::gpu).containsExactlyElementsOf(gpus("t1", "t2"));

        holdings.remove(new GpuId("t1"));
        holdings.remove(new GpuId("t3"));

        assertThat(holdings.of(BERT)).containsExactlyElementsOf(gpus("t2"));
        assertThat(holdings.all()).containsExactly(kept);
    }

    @Test
    void gpusThatATenantIsLeavingAreNotActive() {
        holdings.put(holding("t1", BERT, Holding.Phase.BINDING));
        holdings.put(holding("t2", BERT, Holding.Phase.BOUND));
        holdings.put(holding("t3", BERT, Holding.Phase.RELEASING));
        holdings.put(holding("t4", GPT, Holding.Phase.BOUND));

        assertThat(holdings.active(BERT)).containsExactlyElementsOf(gpus("t1", "t2"));
        assertThat(holdings.of(BERT)).containsExactlyElementsOf(gpus("t1", "t2", "t3"));
    }

    @Test
    void theNextLeaseEndIsTheEarliestOfTheGpusThatAreLentNow() {
        Holding first = lent("i1", 100);
        Holding second = lent("i3", 100);
        holdings.put(lent("i2", 200));
        holdings.put(second);
        holdings.put(first);
        holdings.put(holding("t1", BERT, Holding.Phase.BOUND));
        assertThat(holdings.nextLeaseEnd()).contains(at(100));
        assertThat(holdings.endingAt(at(100))).containsExactly(first, second);
        assertThat(holdings.endingAt(at(150))).isEmpty();

        holdings.remove(first.gpu());
        assertThat(holdings.nextLeaseEnd()).contains(at(100));
        assertThat(holdings.endingAt(at(100))).containsExactly(second);
        holdings.remove(second.gpu());

        assertThat(holdings.nextLeaseEnd()).contains(at(200));
        assertThat(holdings.endingAt(at(100))).isEmpty();
    }

    @Test
    void aLeaseThatIsRenewedEndsOnlyAtItsNewEnd() {
        holdings.put(lent("i1", 100));

        holdings.put(lent("i1", 300));

        assertThat(holdings.nextLeaseEnd()).contains(at(300));
        assertThat(holdings.endingAt(at(100))).isEmpty();
    }

    @Test
    void theLeaseOfAGpuThatIsOnItsWayBackDoesNotEndAgain() {
        holdings.put(lent("i1", 100));

        holdings.put(lent("i1", 100).in(Holding.Phase.RELEASING));

        assertThat(holdings.nextLeaseEnd()).isEmpty();
        assertThat(holdings.endingAt(at(100))).isEmpty();
        assertThat(holdings.of(BERT)).containsExactlyElementsOf(gpus("i1"));
    }
}
