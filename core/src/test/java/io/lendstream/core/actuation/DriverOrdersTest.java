package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.CHAT;
import static io.lendstream.core.actuation.ActuatorFixture.GPT;
import static io.lendstream.core.actuation.ActuatorFixture.allocation;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.idle;
import static io.lendstream.core.actuation.ActuatorFixture.job;
import static io.lendstream.core.actuation.ActuatorFixture.kills;
import static io.lendstream.core.actuation.ActuatorFixture.lend;
import static io.lendstream.core.actuation.ActuatorFixture.node;
import static io.lendstream.core.actuation.ActuatorFixture.reclaim;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static io.lendstream.core.actuation.ActuatorFixture.seconds;
import static io.lendstream.core.actuation.ActuatorFixture.serve;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Bucket;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Pool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The orders to drivers, and the reports if a driver is late or a tenant ends by itself. */
class DriverOrdersTest {
    private static final Action.Batching BATCHING = new Action.Batching(
            CHAT.service(), gpus("i1"), Optional.empty(), List.of(new Bucket(1, 14, Duration.ZERO)));

    private final ActuatorFixture actuator = ActuatorFixture.driven();

    private DecisionId running(double second, Action action, DriverEvent.Started came) {
        DecisionId id = actuator.take(second, action);
        actuator.done(second, came);
        actuator.done(second, new DriverEvent.InForce(came.tenant(), id));
        actuator.actuation().orders();
        actuator.log.clear();
        return id;
    }

    @Test
    void anOrderReplacesTheLastOneOfItsTenantAndOfNoOther() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        DecisionId gpt = actuator.take(1, resize(GPT, gpus("t2"), "t2"));
        DecisionId bert = actuator.take(2, resize(BERT, gpus("t3"), "t1", "t3"));

        assertThat(actuator.actuation().orders())
                .containsExactly(
                        new Order.Place(gpt, GPT, gpus("t2"), List.of(), Optional.of(allocation("t2")), at(61)),
                        new Order.Place(
                                bert, BERT, gpus("t1", "t3"), List.of(), Optional.of(allocation("t1", "t3")), at(62)));
        assertThat(actuator.actuation().orders()).isEmpty();
    }

    @Test
    void aKillIsOrderedThoughItsTenantIsPlacedElsewhereMeanwhile() {
        DecisionId first = actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.advance(60);

        DecisionId second = actuator.take(60, resize(BERT, gpus("t2"), "t2"));

        assertThat(actuator.actuation().orders())
                .containsExactly(
                        new Order.Force(first, BERT, gpus("t1")),
                        new Order.Place(second, BERT, gpus("t2"), gpus("t1"), Optional.of(allocation("t2")), at(120)));
    }

    @Test
    void aJobThatDoesNotComeUpOnAGpuIsOrderedWithoutItAndKeepsTheRest() {
        DecisionId id = actuator.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        actuator.done(3, new DriverEvent.Started(BERT, gpus("t1")));
        actuator.actuation().orders();

        actuator.advance(60);
        assertThat(actuator.actuation().orders())
                .containsExactly(
                        new Order.Place(id, BERT, gpus("t1"), List.of(), Optional.of(allocation("t1", "t2")), at(60)),
                        new Order.Force(id, BERT, gpus("t2")));
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND", "t2 bert RELEASING");
        actuator.done(62, new DriverEvent.Stopped(BERT, gpus("t2"), true, ""));

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED t1,t2",
                        "3 d/1/1 BOUND t1",
                        "62 d/1/1 FAILED t2 (did not come up until 2026-01-01T12:01:00Z)");
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND");
    }

    @Test
    void aDecisionThatIsNotInForceFiveMinutesAfterItsDeadlineTimesOut() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.done(3, new DriverEvent.Started(BERT, gpus("t1")));
        actuator.log.clear();

        actuator.advance(359);
        assertThat(actuator.log).isEmpty();
        actuator.advance(360);

        assertThat(actuator.log).containsExactly("360 d/1/1 TIMED_OUT t1 (not in force until 2026-01-01T12:06:00Z)");
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND");
        assertThat(actuator.actuation().nextEventAt()).isEmpty();
    }

    @Test
    void killsThatAreDueTogetherAreOrderedAsTheirDecisionsCame() {
        DecisionId bert = actuator.take(0, resize(BERT, gpus("t2"), "t2"));
        DecisionId gpt = actuator.take(0, resize(GPT, gpus("t1"), "t1"));
        DecisionId serve = actuator.take(0, serve("i1"));

        actuator.advance(60);

        assertThat(kills(actuator.actuation().orders()))
                .containsExactly(
                        new Order.Force(bert, BERT, gpus("t2")),
                        new Order.Force(gpt, GPT, gpus("t1")),
                        new Order.Force(serve, CHAT, gpus("i1")));
    }

    @Test
    void aReleaseThatALaterDecisionAsksForIsEnforcedBeforeWhatThatDecisionBinds() {
        running(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"), new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.take(10, reclaim(BERT, 20, gpus("t2"), "t1"));

        DecisionId later = actuator.take(12, 20, resize(BERT, gpus("t2", "t3"), "t1", "t3"));
        actuator.advance(20);

        assertThat(kills(actuator.actuation().orders()))
                .containsExactly(new Order.Force(later, BERT, gpus("t2")), new Order.Force(later, BERT, gpus("t3")));
    }

    @Test
    void aPauseIsReportedForTheDecisionInForceAndNotForTheOneThatItSuperseded() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1")));
        DecisionId second = actuator.take(2, resize(BERT, gpus(), "t1"));
        actuator.take(3, resize(BERT, gpus(), "t1"));
        actuator.log.clear();

        List<ActuationReport> settled =
                actuator.done(4, new DriverEvent.InForce(BERT, second, Optional.of(seconds(1.5))));

        assertThat(actuator.log).containsExactly("4 d/1/1 APPLIED t1 (superseded by d/1/2)", "4 d/1/2 APPLIED t1");
        assertThat(settled)
                .extracting(report -> report.timings().pause())
                .containsExactly(Optional.empty(), Optional.of(seconds(1.5)));
        assertThat(settled)
                .extracting(report -> report.timings().ready())
                .containsExactly(Optional.of(seconds(3)), Optional.of(seconds(2)));
    }

    @Test
    void aLeaseThatRunsOutIsOrderedUnderTheLastDecisionAboutItsJob() {
        running(0, lend(BERT, 100, gpus("i1"), "i1"), new DriverEvent.Started(BERT, gpus("i1")));
        DecisionId last =
                running(10, resize(BERT, gpus("t1"), "i1", "t1"), new DriverEvent.Started(BERT, gpus("i1", "t1")));

        actuator.advance(100);
        assertThat(actuator.actuation().orders())
                .containsExactly(new Order.Place(
                        last, BERT, gpus("t1"), gpus("i1"), Optional.of(allocation("i1", "t1")), at(145)));
        actuator.done(101, new DriverEvent.Stopped(BERT, gpus("i1"), false, ""));

        assertThat(actuator.log).containsExactly("101 d/1/1 RELEASED i1 (lease ran out at 2026-01-01T12:01:40Z)");
    }

    @Test
    void aJobThatEndsByItselfIsReportedSoAndNotWithTheRemarkOfItsDecision() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1", "i1"));
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1")));

        actuator.done(2, new DriverEvent.Stopped(BERT, gpus("t1"), false, "exit status 1"));

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED t1 (goes on without i1: it has no tenant)",
                        "1 d/1/1 BOUND t1",
                        "2 d/1/1 RELEASED t1 (it left by itself; exit status 1)");
        assertThat(actuator.holdings()).isEmpty();
    }

    @Test
    void aJobThatIsKilledWithoutAnOrderIsReportedForced() {
        running(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"), new DriverEvent.Started(BERT, gpus("t1", "t2")));

        List<ActuationReport> reports =
                actuator.done(50, new DriverEvent.Stopped(BERT, gpus("t2"), true, "out of memory"));

        assertThat(actuator.log).containsExactly("50 d/1/1 FORCED t2 (it left by itself; out of memory)");
        assertThat(reports).extracting(ActuationReport::tenant).containsExactly(Optional.of(BERT));
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND");
    }

    @Test
    void aTenantThatLeavesAGpuThatItDoesNotHaveIsNotReported() {
        running(0, resize(BERT, gpus("t1"), "t1"), new DriverEvent.Started(BERT, gpus("t1")));

        actuator.done(50, new DriverEvent.Stopped(GPT, gpus("t1"), true, ""));
        actuator.done(50, new DriverEvent.Stopped(BERT, gpus("t2"), true, ""));

        assertThat(actuator.log).isEmpty();
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND");
    }

    @Test
    void aTenantThatRunsOnAGpuThatItDoesNotHaveIsKilledUnderTheLastDecisionAboutIt() {
        DecisionId bert = running(0, resize(BERT, gpus("t1"), "t1"), new DriverEvent.Started(BERT, gpus("t1")));
        DecisionId last = running(1, serve("i1"), new DriverEvent.Started(CHAT, gpus("i1")));

        actuator.done(50, new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.done(50, new DriverEvent.Started(GPT, gpus("t3")));

        assertThat(actuator.actuation().orders())
                .containsExactly(new Order.Force(bert, BERT, gpus("t2")), new Order.Force(last, GPT, gpus("t3")));
        assertThat(actuator.log).isEmpty();
    }

    @Test
    void aJobIsBroughtBackToWhatItLeftByItselfOnceAnotherHasHadIt() {
        running(0, resize(BERT, gpus("t1"), "t1"), new DriverEvent.Started(BERT, gpus("t1")));
        actuator.done(10, new DriverEvent.Stopped(BERT, gpus("t1"), false, "it crashed"));
        running(20, resize(GPT, gpus("t1"), "t1"), new DriverEvent.Started(GPT, gpus("t1")));
        actuator.take(30, resize(GPT, gpus("t1")));
        actuator.done(31, new DriverEvent.Stopped(GPT, gpus("t1"), false, ""));

        actuator.take(40, lend(BERT, 1000, gpus("i1"), "i1", "t1"));

        assertThat(actuator.holdings()).containsExactly("i1 bert BINDING", "t1 bert BINDING");
    }

    @Test
    void aDecisionThatADriverCannotBringAboutLeavesThoseBeforeItAsTheyAre() {
        DecisionId first = actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        DecisionId second = actuator.take(1, resize(BERT, gpus("t2"), "t1", "t2"));
        actuator.actuation().orders();
        actuator.log.clear();

        actuator.done(2, new DriverEvent.Failed(BERT, second, "no room"));
        assertThat(actuator.log).isEmpty();
        assertThat(kills(actuator.actuation().orders())).containsExactly(new Order.Force(second, BERT, gpus("t2")));
        actuator.done(3, new DriverEvent.Stopped(BERT, gpus("t2"), true, ""));
        actuator.done(4, new DriverEvent.Started(BERT, gpus("t1")));
        actuator.done(5, new DriverEvent.InForce(BERT, first));

        assertThat(actuator.log)
                .containsExactly("3 d/1/2 FAILED t2 (no room)", "4 d/1/1 BOUND t1", "5 d/1/1 APPLIED t1");
    }

    @Test
    void aChangeOfBatchingIsOrderedAndReportedAppliedOnceItsDriverSaysSo() {
        ActuatorFixture batching = ActuatorFixture.driven();

        DecisionId id = batching.take(0, BATCHING);
        assertThat(batching.actuation().orders()).containsExactly(new Order.Batch(id, BATCHING));
        List<ActuationReport> reports = batching.done(2, new DriverEvent.InForce(CHAT, id));
        batching.advance(1000);

        assertThat(batching.log).containsExactly("0 d/1/1 ACCEPTED i1", "2 d/1/1 APPLIED i1");
        assertThat(reports).extracting(ActuationReport::tenant).containsExactly(Optional.of(CHAT));
    }

    @Test
    void aChangeOfBatchingTimesOutWhereItsDriverDoesNotAnswer() {
        ActuatorFixture batching = ActuatorFixture.driven();

        batching.take(0, BATCHING);
        batching.advance(1000);

        assertThat(batching.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED i1", "360 d/1/1 TIMED_OUT i1 (not in force until 2026-01-01T12:06:00Z)");
    }

    @Test
    void aChangeOfBatchingIsRefusedWhereNoDriverMakesIt() {
        ActuatorFixture batching = new ActuatorFixture(() -> new ScriptedDriver(true, true, false));

        batching.take(0, BATCHING);

        assertThat(batching.log).containsExactly("0 d/1/1 REJECTED i1 (no driver here changes how services batch)");
        assertThat(batching.actuation().refusals()).containsOnlyKeys(Refusal.UNSUPPORTED);
        assertThat(batching.actuation().orders()).isEmpty();
    }

    @Test
    void aJobIsOrderedWithoutTheGpusOnWhichItsDriverCannotStartIt() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        DecisionId second = actuator.take(1, resize(BERT, gpus("t2"), "t1", "t2"));
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1")));
        actuator.actuation().orders();

        actuator.done(2, new DriverEvent.Failed(BERT, second, "no room"));
        assertThat(actuator.actuation().orders())
                .containsExactly(
                        new Order.Place(
                                second, BERT, gpus("t1"), List.of(), Optional.of(allocation("t1", "t2")), at(61)),
                        new Order.Force(second, BERT, gpus("t2")));
        actuator.done(3, new DriverEvent.Stopped(BERT, gpus("t2"), true, ""));
        actuator.log.clear();
        actuator.advance(1000);

        assertThat(actuator.log).containsExactly("360 d/1/1 TIMED_OUT t1 (not in force until 2026-01-01T12:06:00Z)");
        assertThat(actuator.actuation().orders()).isEmpty();
    }

    @Test
    void aDecisionAboutAJobWithoutGpusIsKeptUntilItIsInForceOrGivenUp() {
        DecisionId first = actuator.take(0, reclaim(BERT, 45, gpus("i1")));
        assertThat(actuator.actuation().isHeardFromOutside(BERT)).isTrue();
        actuator.done(1, new DriverEvent.InForce(BERT, first));
        assertThat(actuator.actuation().isHeardFromOutside(BERT)).isFalse();

        actuator.take(10, reclaim(BERT, 55, gpus("i1")));
        actuator.advance(369);
        assertThat(actuator.actuation().isHeardFromOutside(BERT)).isTrue();
        actuator.advance(370);

        assertThat(actuator.actuation().isHeardFromOutside(BERT)).isFalse();
        assertThat(actuator.log).endsWith("370 d/1/2 TIMED_OUT - (not in force until 2026-01-01T12:06:10Z)");
    }

    @Test
    void aDecisionIsGivenUpLaterIfTwoStartsOfItsJobTakeLongerThanFiveMinutes() {
        actuator.actuation().know(job(BERT, true, seconds(200)));
        actuator.actuation().know(job(GPT, true, seconds(100)));
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.take(0, resize(GPT, gpus("t2"), "t2"));
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1")));
        actuator.done(1, new DriverEvent.Started(GPT, gpus("t2")));
        actuator.log.clear();

        actuator.advance(459);
        assertThat(actuator.log).containsExactly("360 d/1/2 TIMED_OUT t2 (not in force until 2026-01-01T12:06:00Z)");
        actuator.advance(460);

        assertThat(actuator.log).endsWith("460 d/1/1 TIMED_OUT t1 (not in force until 2026-01-01T12:07:40Z)");
    }

    @Test
    void aDecisionIsNotGivenUpBeforeAnEarlierOneAboutItsJob() {
        actuator.take(0, 600, resize(BERT, gpus("t1"), "t1"));
        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1")));
        actuator.take(10, resize(BERT, gpus(), "t1"));
        actuator.log.clear();

        actuator.advance(899);
        assertThat(actuator.log).isEmpty();
        actuator.advance(900);

        assertThat(actuator.log)
                .containsExactly(
                        "900 d/1/1 TIMED_OUT t1 (not in force until 2026-01-01T12:15:00Z)",
                        "900 d/1/2 TIMED_OUT t1 (not in force until 2026-01-01T12:15:00Z)");
    }

    @Test
    void aReleaseWithALongNoticeDoesNotPutOffTheEndOfALaterDecision() {
        running(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"), new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.take(10, reclaim(BERT, 1000, gpus("t2"), "t1"));
        actuator.take(11, resize(BERT, gpus(), "t1"));
        actuator.log.clear();

        actuator.advance(371);

        assertThat(actuator.log)
                .containsExactly(
                        "370 d/1/2 TIMED_OUT t1 (not in force until 2026-01-01T12:06:10Z)",
                        "371 d/1/3 TIMED_OUT t1 (not in force until 2026-01-01T12:06:11Z)");
    }

    @Test
    void theTimesOfADecisionDoNotCountForALaterOne() {
        running(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"), new DriverEvent.Started(BERT, gpus("t1", "t2")));
        actuator.take(10, reclaim(BERT, 40, gpus("t2"), "t1"));
        DecisionId later = actuator.take(11, resize(BERT, gpus("t3"), "t1", "t3"));
        actuator.done(14, new DriverEvent.Stopped(BERT, gpus("t2"), false, ""));

        List<ActuationReport> came = actuator.done(16, new DriverEvent.Started(BERT, gpus("t3")));
        List<ActuationReport> settled = actuator.done(20, new DriverEvent.InForce(BERT, later));

        assertThat(came)
                .extracting(ActuationReport::timings)
                .containsExactly(parts(Optional.empty(), Optional.of(seconds(5)), Optional.empty()));
        assertThat(settled)
                .extracting(ActuationReport::timings)
                .containsExactly(
                        parts(Optional.of(seconds(4)), Optional.empty(), Optional.of(seconds(6))),
                        parts(Optional.empty(), Optional.of(seconds(5)), Optional.of(seconds(4))));
    }

    private static Timings parts(Optional<Duration> release, Optional<Duration> bind, Optional<Duration> ready) {
        return new Timings(Optional.empty(), release, bind, ready);
    }

    @Test
    void aChangeOfAServiceStillNamesAGpuThatAJobHasHadMeanwhile() {
        running(0, serve("i1", "i2"), new DriverEvent.Started(CHAT, gpus("i1", "i2")));
        DecisionId idle = actuator.take(10, idle(40, "i2"));
        actuator.done(11, new DriverEvent.Stopped(CHAT, gpus("i2"), false, ""));
        actuator.take(12, lend(BERT, 1000, gpus("i2"), "i2"));
        actuator.done(13, new DriverEvent.Started(BERT, gpus("i2")));
        actuator.take(14, reclaim(BERT, 59, gpus("i2")));

        actuator.done(15, new DriverEvent.InForce(CHAT, idle));

        assertThat(actuator.log).endsWith("15 d/1/2 APPLIED i2");
    }

    @Test
    void aChangeOfAServiceIsNotInForceThroughThatOfAServiceOfItsNameInAnotherDomain() {
        DecisionId theirs = new DecisionId(new DomainId("theirs"), 1, 1);
        actuator.actuation().know(node(theirs.domain(), "n1", Pool.INFERENCE, "h1"));
        actuator.take(0, serve("i1"));
        actuator.take(theirs, 0, false, serve("h1"));
        actuator.done(1, new DriverEvent.Started(CHAT, gpus("h1", "i1")));
        actuator.log.clear();

        actuator.done(2, new DriverEvent.InForce(CHAT, theirs));

        assertThat(actuator.log).containsExactly("2 theirs/1/1 APPLIED h1");
    }

    @Test
    void aDecisionAboutAnotherJobDoesNotShowThatTheLossOfAGpuIsKnown() {
        running(0, resize(BERT, gpus("t1"), "t1"), new DriverEvent.Started(BERT, gpus("t1")));
        running(1, lend(BERT, 1000, gpus("i1"), "i1", "t1"), new DriverEvent.Started(BERT, gpus("i1", "t1")));
        actuator.done(10, new DriverEvent.Stopped(BERT, gpus("t1"), false, "it crashed"));

        actuator.take(11, resize(GPT, gpus("t2"), "t2"));
        actuator.take(12, lend(BERT, 1000, gpus("i2"), "i1", "i2", "t1"));

        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND", "i2 bert BINDING", "t2 gpt BINDING");
    }

    @Test
    void aGpuCountsAsHeldUntilItsTenantIsGone() {
        assertThat(actuator.actuation().heldGpus()).isZero();
        running(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"), new DriverEvent.Started(BERT, gpus("t1", "t2")));

        actuator.take(10, reclaim(BERT, 40, gpus("t2"), "t1"));
        assertThat(actuator.actuation().heldGpus()).isEqualTo(2);
        actuator.done(11, new DriverEvent.Stopped(BERT, gpus("t2"), false, ""));

        assertThat(actuator.actuation().heldGpus()).isEqualTo(1);
    }

    @Test
    void theNextEventIsTheDeadlineOfWhatADriverHasNotReported() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        assertThat(actuator.actuation().nextEventAt()).contains(at(60));

        actuator.done(1, new DriverEvent.Started(BERT, gpus("t1")));

        assertThat(actuator.actuation().nextEventAt()).contains(at(360));
    }

    @Test
    void aReplicaOfAServiceThatNoDriverRunsIsRefused() {
        ActuatorFixture unable = new ActuatorFixture(() -> ScriptedDriver.UNABLE);

        unable.take(0, serve("i1"));

        assertThat(unable.log)
                .singleElement()
                .asString()
                .isEqualTo("0 d/1/1 REJECTED i1 (no driver here runs service chat)");
        assertThat(unable.holdings()).isEmpty();
        assertThat(unable.actuation().orders()).isEmpty();
    }
}
