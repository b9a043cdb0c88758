package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.TRAINING;
import static io.lendstream.core.actuation.ActuatorFixture.allocation;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.changeTiming;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.lend;
import static io.lendstream.core.actuation.ActuatorFixture.node;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static io.lendstream.core.actuation.ActuatorFixture.serve;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Nodes that go, and inventories that change; a bind takes 3 s, and a change is in force after 20 s. */
class LostNodeTest {
    private static final DomainId THEIRS = new DomainId("theirs");

    private final ActuatorFixture actuator = new ActuatorFixture(tenantChange -> changeTiming(2, 3, 20));

    @Test
    void aJobDoesNotComeUpOnANodeThatIsLost() {
        actuator.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));

        actuator.actuation().lose(TRAINING.nodeId());
        actuator.advance(60);

        assertThat(actuator.log).containsExactly("0 d/1/1 ACCEPTED t1,t2", "20 d/1/1 APPLIED - (without t1, t2)");
        assertThat(actuator.holdings()).isEmpty();
    }

    @Test
    void tenantsOfOtherNodesKeepTheirGpusWhenANodeIsLost() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "t1", "i1"));
        actuator.take(0, serve("i2"));
        actuator.advance(1);

        actuator.actuation().lose(TRAINING.nodeId());
        actuator.advance(60);

        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND", "i2 chat BOUND");
        assertThat(actuator.log).contains("3 d/1/1 BOUND i1", "20 d/1/1 APPLIED i1 (without t1)");
    }

    @Test
    void aLostNodeIsNotUsedUntilItsAgentDeclaresItAgain() {
        actuator.actuation().lose(TRAINING.nodeId());

        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.actuation().know(TRAINING);
        actuator.take(1, resize(BERT, gpus("t1"), "t1"));

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 REJECTED t1 (t1 cannot be bound: no known node has it)", "1 d/1/2 ACCEPTED t1");
    }

    @Test
    void aNodeIsLostToEveryDomainThatDeclaresIt() {
        actuator.actuation().know(node(THEIRS, "training", Pool.TRAINING, "h1"));

        actuator.actuation().lose(TRAINING.nodeId());
        actuator.take(new DecisionId(THEIRS, 1, 1), 0, false, resize(BERT, gpus("h1"), "h1"));

        assertThat(actuator.log).containsExactly("0 theirs/1/1 REJECTED h1 (h1 cannot be bound: no known node has it)");
    }

    @Test
    void aGpuThatANewInventoryDoesNotNameIsNotBound() {
        actuator.actuation().know(node(DOMAIN, "training", Pool.TRAINING, "t1"));

        actuator.take(0, resize(BERT, gpus("t2"), "t2"));
        actuator.take(1, resize(BERT, gpus("t1"), "t1"));

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 REJECTED t2 (t2 cannot be bound: no known node has it)", "1 d/1/2 ACCEPTED t1");
    }

    @Test
    void aNodeOfAnUnknownPoolIsNotTouched() {
        actuator.actuation().know(node(DOMAIN, "training", Pool.UNKNOWN, "t1", "t2", "t3", "t4"));

        actuator.take(0, serve("t1"));

        assertThat(actuator.log).containsExactly("0 d/1/1 REJECTED t1 (t1 cannot be bound: no known node has it)");
        assertThat(actuator.actuation().refusals()).containsOnlyKeys(Refusal.GPU_UNKNOWN);
    }

    @Test
    void takesStockOfEachDomainsOwnGpus() {
        actuator.actuation().know(node(THEIRS, "n1", Pool.TRAINING, "h1", "h2"));
        DecisionId theirs = new DecisionId(THEIRS, 1, 7);
        DecisionId ours = actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.take(theirs, 0, false, resize(GPT, gpus("h2"), "h2"));
        actuator.advance(60);

        assertThat(actuator.actuation().stock())
                .allSatisfy(report -> assertThat(report.outcome()).isEqualTo(Outcome.HOLDS))
                .extracting(ActuationReport::decision, ActuationReport::gpus)
                .containsExactly(
                        tuple(ours, gpus("i1", "i2", "i3", "i4", "t2", "t3", "t4")),
                        tuple(ours, gpus("t1")),
                        tuple(theirs, gpus("h1")),
                        tuple(theirs, gpus("h2")));
    }

    @Test
    void aGpuIsUsedByTheDomainThatDeclaresItAndAnUndeclaredOneByAnyDomain() {
        assertThat(actuator.actuation().isOf(DOMAIN, new GpuId("t1"))).isTrue();
        assertThat(actuator.actuation().isOf(THEIRS, new GpuId("t1"))).isFalse();
        assertThat(actuator.actuation().isOf(THEIRS, new GpuId("h1"))).isTrue();
    }

    @Test
    void aJobComesUpAgainOnTheGpusThatItHadWhenTheirNodeWasLost() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.advance(30);
        actuator.actuation().lose(TRAINING.nodeId());
        actuator.actuation().know(TRAINING);
        actuator.log.clear();

        actuator.take(40, resize(BERT, gpus("t1"), "t1"));
        actuator.advance(100);

        assertThat(actuator.log).containsExactly("40 d/1/2 ACCEPTED t1", "43 d/1/2 BOUND t1", "60 d/1/2 APPLIED t1");
    }

    @Test
    void aDriverIsNotToPlaceTenantsOnALostNodeAfterARestart() {
        ActuatorFixture driven = ActuatorFixture.driven();
        DecisionId bert = driven.take(0, lend(BERT, 400, gpus("i1"), "i1", "t1"));
        driven.take(0, resize(GPT, gpus("t2"), "t2"));

        driven.actuation().lose(TRAINING.nodeId());

        assertThat(driven.actuation().isHeardFromOutside(BERT)).isTrue();
        assertThat(driven.actuation().isHeardFromOutside(GPT)).isFalse();
        assertThat(driven.restart(1))
                .containsExactly(new Order.Place(
                        bert, BERT, gpus("i1"), List.of(), Optional.of(allocation("i1", "t1")), at(60)));
    }
}
