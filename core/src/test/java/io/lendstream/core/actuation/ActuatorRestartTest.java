package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.CHAT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.allocation;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.changeTiming;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.kills;
import static io.lendstream.core.actuation.ActuatorFixture.lend;
import static io.lendstream.core.actuation.ActuatorFixture.node;
import static io.lendstream.core.actuation.ActuatorFixture.reclaim;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static io.lendstream.core.actuation.ActuatorFixture.serve;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Pool;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an actuator still knows after a restart, and what it asks its drivers for then. */
class ActuatorRestartTest {
    private static final DomainId THEIRS = new DomainId("theirs");

    private final ActuatorFixture driven = ActuatorFixture.driven();

    @Test
    void onlyTheDomainThatLentToAJobDecidesAboutItAfterARestart() {
        var planned = new ActuatorFixture(tenantChange -> changeTiming(2, 3, 20));
        planned.take(0, lend(BERT, 400, gpus("i1"), "i1"));
        assertThat(planned.restored().home(BERT.job())).contains(DOMAIN);
        planned.restart(10);

        assertRefusedToAnotherDomain(planned);
    }

    @Test
    void onlyTheDomainWhoseTrainingGpusAJobHasDecidesAboutItAfterARestart() {
        var planned = new ActuatorFixture(tenantChange -> changeTiming(2, 3, 20));
        planned.take(0, resize(BERT, gpus("t1"), "t1"));
        planned.restart(10);

        assertRefusedToAnotherDomain(planned);
        assertThat(planned.holdings()).containsExactly("t1 bert BOUND");
    }

    @Test
    void onlyTheDomainThatPlacedAJobDecidesAboutItAfterARestart() {
        driven.take(0, resize(BERT, gpus("t1"), "t1"));
        assertThat(driven.restored().home(BERT.job())).contains(DOMAIN);
        driven.restart(10);

        assertRefusedToAnotherDomain(driven);
    }

    private static void assertRefusedToAnotherDomain(ActuatorFixture actuator) {
        actuator.actuation().know(node(THEIRS, "n1", Pool.TRAINING, "h1"));
        actuator.log.clear();

        actuator.take(new DecisionId(THEIRS, 1, 1), 11, false, resize(BERT, gpus("h1"), "h1"));

        assertThat(actuator.log)
                .contains("11 theirs/1/1 REJECTED h1 (a job of this name runs in domain d; one actuator runs jobs of"
                        + " one name for one domain)");
        assertThat(actuator.actuation().home(BERT.job())).contains(DOMAIN);
        assertThat(actuator.actuation().home(GPT.job())).isEmpty();
    }

    @Test
    void refusalsAreCountedOnAfterARestart() {
        driven.take(0, resize(BERT, gpus("x1"), "x1"));
        driven.take(0, resize(BERT, gpus("x1"), "x1"));
        driven.restart(10);

        driven.take(11, resize(BERT, gpus("x1"), "x1"));
        driven.take(12, resize(BERT, gpus("i1"), "i1"));

        assertThat(driven.actuation().refusals())
                .containsEntry(Refusal.GPU_UNKNOWN, 3L)
                .containsEntry(Refusal.NOT_ON_LOAN, 1L)
                .hasSize(2);
    }

    @Test
    void anActuatorThatHasDoneNothingHasTheEmptySnapshot() {
        assertThat(new Actuation("a", Duration.ofSeconds(45), ScriptedDriver.ABLE).snapshot())
                .isEqualTo(ActuationSnapshot.empty())
                .isEqualTo(new ActuationSnapshot(
                        Instant.EPOCH,
                        0,
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(),
                        Optional.empty(),
                        List.of()));
    }

    @Test
    void placesAreOrderedAgainByDecisionAndKillsAfterThem() {
        DecisionId serve = driven.take(0, serve("i1"));
        DecisionId gpt = driven.take(1, resize(GPT, gpus("t2"), "t2"));
        DecisionId bert = driven.take(2, resize(BERT, gpus("t1"), "t1"));
        driven.done(3, new DriverEvent.Started(CHAT, gpus("i1")));
        driven.done(3, new DriverEvent.Started(GPT, gpus("t2")));
        driven.done(3, new DriverEvent.Started(BERT, gpus("t1")));
        DecisionId reclaim = driven.take(10, reclaim(GPT, 20, gpus("t2")));
        driven.advance(20);

        List<Order> orders = driven.restart(25);

        assertThat(gpt).isLessThan(bert);
        assertThat(orders)
                .containsExactly(
                        new Order.Place(serve, CHAT, gpus("i1"), List.of(), Optional.empty(), at(60)),
                        new Order.Place(bert, BERT, gpus("t1"), List.of(), Optional.of(allocation("t1")), at(62)),
                        new Order.Place(reclaim, GPT, List.of(), gpus("t2"), Optional.of(allocation()), at(20)),
                        new Order.Force(reclaim, GPT, gpus("t2")));
        assertThat(driven.actuation().orders()).isEmpty();
    }

    @Test
    void aJobThatWasComingUpAtARestartHasTimeUntilItsOwnDeadline() {
        driven.take(0, 600, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        driven.done(5, new DriverEvent.Started(BERT, gpus("t1")));
        driven.restart(10);
        driven.done(11, new DriverEvent.Started(BERT, gpus("t1")));

        driven.advance(599);
        assertThat(driven.actuation().orders()).isEmpty();
        driven.done(599, new DriverEvent.Started(BERT, gpus("t2")));

        assertThat(driven.holdings()).containsExactly("t1 bert BOUND", "t2 bert BOUND");
    }

    @Test
    void aGpuThatIsReclaimedAfterARestartIsLeftItsNoticeThoughItsJobWasNotSeenAgain() {
        driven.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        driven.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        driven.restart(100);
        DecisionId reclaim = driven.take(110, reclaim(BERT, 1000, gpus("t2"), "t1"));
        driven.done(111, new DriverEvent.Started(BERT, gpus("t1")));
        driven.actuation().orders();

        driven.advance(999);
        assertThat(driven.actuation().orders()).isEmpty();
        driven.advance(1000);

        assertThat(driven.actuation().orders()).containsExactly(new Order.Force(reclaim, BERT, gpus("t2")));
    }

    @Test
    void aSecondRestartGivesAJobItsTimeToReturnOnceMore() {
        DecisionId decision = driven.take(0, resize(BERT, gpus("t1"), "t1"));
        driven.done(1, new DriverEvent.Started(BERT, gpus("t1")));
        driven.done(2, new DriverEvent.InForce(BERT, decision));
        driven.restart(100);
        driven.restart(200);

        driven.advance(499);
        assertThat(driven.actuation().orders()).isEmpty();
        driven.advance(500);
        assertThat(driven.actuation().orders())
                .containsExactly(
                        new Order.Place(decision, BERT, List.of(), List.of(), Optional.of(allocation("t1")), at(60)),
                        new Order.Force(decision, BERT, gpus("t1")));
        driven.advance(510);

        assertThat(kills(driven.actuation().orders())).containsExactly(new Order.Force(decision, BERT, gpus("t1")));
    }

    @Test
    void stockLeavesOutTheGpusWhereAJobWasNotSeenAgainAfterARestart() {
        driven.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        driven.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        driven.restart(100);
        assertThat(stock()).containsExactly("i1, i2, i3, i4, t3, t4");

        driven.done(101, new DriverEvent.Started(BERT, gpus("t2")));

        assertThat(stock()).containsExactly("i1, i2, i3, i4, t3, t4", "t2");
    }

    private List<String> stock() {
        return driven.actuation().stock().stream()
                .map(report -> ReasonText.names(report.gpus()))
                .toList();
    }

    @Test
    void aTenantIsADriversAsLongAsItHasGpus() {
        driven.take(0, resize(BERT, gpus("t1"), "t1"));
        assertThat(driven.actuation().isHeardFromOutside(BERT)).isTrue();
        assertThat(driven.actuation().isHeardFromOutside(GPT)).isFalse();
        driven.done(1, new DriverEvent.Started(BERT, gpus("t1")));

        driven.done(2, new DriverEvent.Stopped(BERT, gpus("t1"), false, "exit status 0"));

        assertThat(driven.actuation().isHeardFromOutside(BERT)).isFalse();
    }

    @Test
    void aJobThatLeavesByItselfAfterARestartIsReportedSoThoughItIsKilledElsewhere() {
        DecisionId decision = driven.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        driven.done(1, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        driven.done(2, new DriverEvent.InForce(BERT, decision));
        driven.restart(100);
        driven.done(101, new DriverEvent.Started(BERT, gpus("t1")));
        driven.advance(400);
        driven.log.clear();

        driven.done(401, new DriverEvent.Stopped(BERT, gpus("t1"), false, "exit status 0"));
        driven.done(402, new DriverEvent.Stopped(BERT, gpus("t2"), true, ""));

        assertThat(driven.log)
                .containsExactly(
                        "401 d/1/1 RELEASED t1 (it left by itself; exit status 0)",
                        "402 d/1/1 FORCED t2 (killed: its driver did not confirm it since the actuator's restart)");
    }

    @Test
    void aSimulatedDriverGetsNoOrdersAfterARestart() {
        var planned = new ActuatorFixture(tenantChange -> changeTiming(2, 3, 20));
        planned.take(0, resize(BERT, gpus("t1"), "t1"));

        assertThat(planned.restart(10)).isEmpty();
        assertThat(planned.actuation().isHeardFromOutside(BERT)).isFalse();
    }
}
