package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.changeTiming;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.job;
import static io.lendstream.core.actuation.ActuatorFixture.lend;
import static io.lendstream.core.actuation.ActuatorFixture.reclaim;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.simulated.ChangeFacts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a lease covers, and how it ends; a release takes 10 s, a bind 3 s, and a change is in force after 20 s. */
class LoansTest {
    private final List<ChangeFacts> changes = new ArrayList<>();
    private final ActuatorFixture actuator = new ActuatorFixture(tenantChange -> {
        changes.add(tenantChange);
        return changeTiming(tenantChange.released().isEmpty() ? 0 : 10, 3, 20);
    });

    @Test
    void aTrainingGpuHasNoLeaseToRenew() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "t1", "i1"));
        actuator.advance(99);
        actuator.log.clear();

        actuator.take(100, new Action.Renew(gpus("i1", "t1"), at(800)));

        assertThat(actuator.log)
                .containsExactly(
                        "100 d/1/2 ACCEPTED i1",
                        "100 d/1/2 APPLIED i1",
                        "100 d/1/2 REJECTED t1 (no loan to renew: job bert has it, and its release has not been asked"
                                + " for)");
        assertThat(actuator.loans()).containsExactly("i1 d/1/1 800");
    }

    @Test
    void aGpuThatAnotherJobHasOnLoanStaysOnThatLoan() {
        actuator.take(0, lend(GPT, 400, gpus("i1"), "i1"));
        actuator.advance(99);
        actuator.log.clear();

        actuator.take(100, lend(BERT, 900, gpus("i1", "i2"), "i2"));

        assertThat(actuator.log)
                .containsExactly(
                        "100 d/1/2 ACCEPTED i2",
                        "100 d/1/2 REJECTED i1 (i1 is not job bert's: job gpt has it, and its release has not been"
                                + " asked for)");
        assertThat(actuator.loans()).containsExactly("i1 d/1/1 400", "i2 d/1/2 900");
    }

    @Test
    void aGpuThatAJobIsLeavingIsNotPutOnANewLoan() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "i1"));
        actuator.take(100, reclaim(BERT, 145, gpus("i1")));

        actuator.take(101, lend(BERT, 900, gpus("i1", "i2"), "i2"));

        assertThat(actuator.loans()).containsExactly("i1 d/1/1 400", "i2 d/1/3 900");
        assertThat(actuator.holdings()).containsExactly("i1 bert RELEASING", "i2 bert BINDING");
    }

    @Test
    void aLeaseThatRunsOutShrinksAnElasticJobWithoutARestart() {
        actuator.actuation().know(job(BERT, true));
        DecisionId granted = actuator.take(0, lend(BERT, 100, gpus("i1", "i2"), "t1", "i1", "i2"));

        actuator.advance(100);

        assertThat(changes)
                .last()
                .isEqualTo(new ChangeFacts(
                        granted,
                        BERT,
                        gpus("i1", "i2"),
                        List.of(),
                        3,
                        1,
                        Mechanism.AFE,
                        0,
                        Duration.ZERO,
                        Optional.of(job(BERT, true)),
                        Optional.empty()));
    }

    @Test
    void aLeaseThatRunsOutRestartsAJobThatIsNotElasticOrNotKnown() {
        actuator.actuation().know(job(GPT, false));
        actuator.take(0, lend(BERT, 100, gpus("i1"), "t1", "i1"));
        actuator.take(0, lend(GPT, 200, gpus("i2"), "t2", "i2"));

        actuator.advance(100);
        assertThat(changes).last().extracting(ChangeFacts::mechanism).isEqualTo(Mechanism.RESTART);
        actuator.advance(200);

        assertThat(changes).last().extracting(ChangeFacts::mechanism).isEqualTo(Mechanism.RESTART);
        assertThat(changes).last().extracting(ChangeFacts::tenant).isEqualTo(GPT);
    }

    @Test
    void leasesThatRunOutTogetherEndUnderTheDecisionThatGrantedEach() {
        actuator.take(0, lend(BERT, 100, gpus("i2"), "i2"));
        actuator.take(30, lend(BERT, 100, gpus("i1", "i3"), "i1", "i2", "i3"));
        actuator.advance(99);
        actuator.log.clear();

        actuator.advance(200);

        assertThat(actuator.log)
                .containsExactly(
                        "110 d/1/2 RELEASED i1,i3 (lease ran out at 2026-01-01T12:01:40Z)",
                        "110 d/1/1 RELEASED i2 (lease ran out at 2026-01-01T12:01:40Z)");
        assertThat(changes)
                .filteredOn(tenantChange -> !tenantChange.released().isEmpty())
                .extracting(ChangeFacts::before, ChangeFacts::after)
                .containsExactly(tuple(3, 0));
    }

    @Test
    void aJobThatDoesNotLeaveWithinTheNoticeAfterItsLeaseIsForced() {
        var slow = new ActuatorFixture(
                tenantChange -> changeTiming(tenantChange.released().isEmpty() ? 0 : 50, 3, 20));
        slow.take(0, lend(BERT, 100, gpus("i1"), "i1"));
        slow.advance(99);
        slow.log.clear();

        slow.advance(200);

        assertThat(slow.log)
                .containsExactly(
                        "145 d/1/1 FORCED i1 (lease ran out at 2026-01-01T12:01:40Z; still there at the deadline)");
    }

    @Test
    void theNextEventIsTheEarlierOfTheNextStepAndTheNextLeaseEnd() {
        assertThat(actuator.actuation().nextEventAt()).isEmpty();

        actuator.take(0, lend(BERT, 100, gpus("i1"), "i1"));
        assertThat(actuator.actuation().nextEventAt()).contains(at(3));
        actuator.advance(20);
        assertThat(actuator.actuation().nextEventAt()).contains(at(100));
        actuator.take(90, resize(GPT, gpus("t1"), "t1"));
        assertThat(actuator.actuation().nextEventAt()).contains(at(93));
        actuator.advance(95);
        assertThat(actuator.actuation().nextEventAt()).contains(at(100));
        actuator.advance(100);
        assertThat(actuator.actuation().nextEventAt()).contains(at(110));
        actuator.advance(110);

        assertThat(actuator.actuation().nextEventAt()).isEmpty();
    }
}
