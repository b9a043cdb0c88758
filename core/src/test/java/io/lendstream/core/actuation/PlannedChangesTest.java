package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.CHAT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.changeTiming;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.idle;
import static io.lendstream.core.actuation.ActuatorFixture.job;
import static io.lendstream.core.actuation.ActuatorFixture.reclaim;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static io.lendstream.core.actuation.ActuatorFixture.seconds;
import static io.lendstream.core.actuation.ActuatorFixture.serve;
import static io.lendstream.core.actuation.ActuatorFixture.service;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.simulated.ChangeFacts;
import io.lendstream.core.simulated.ChangeTiming;
import io.lendstream.core.simulated.DelayModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The reports and their times, if a simulated driver has a time for each decision. */
class PlannedChangesTest {
    private final List<ChangeFacts> changes = new ArrayList<>();

    /** One whose first decision takes the first timing, and so on. */
    private ActuatorFixture actuator(ChangeTiming... timings) {
        return new ActuatorFixture(tenantChange -> {
            changes.add(tenantChange);
            return timings[(int) tenantChange.decision().sequence() - 1];
        });
    }

    @Test
    void aChangeOfTheBatchIsInForceNoSoonerThanTheJobIsUpOnTheGpusThatItGains() {
        ActuatorFixture actuator = actuator(changeTiming(0, 30, 0), ChangeTiming.AT_ONCE);

        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.take(10, resize(BERT, gpus(), "t1"));
        actuator.advance(60);

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED t1",
                        "10 d/1/2 ACCEPTED -",
                        "30 d/1/1 BOUND t1",
                        "30 d/1/1 APPLIED t1 (superseded by d/1/2)",
                        "30 d/1/2 APPLIED t1");
    }

    @Test
    void aReplicaServesWithoutWaitingForOneThatWasOrderedBefore() {
        ActuatorFixture actuator = actuator(changeTiming(0, 30, 0), changeTiming(0, 5, 0));

        actuator.take(0, serve("i1"));
        actuator.take(10, serve("i2"));
        actuator.advance(60);

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED i1",
                        "10 d/1/2 ACCEPTED i2",
                        "15 d/1/2 BOUND i2",
                        "30 d/1/1 BOUND i1",
                        "30 d/1/1 APPLIED i1",
                        "30 d/1/2 APPLIED i2");
    }

    @Test
    void aReplicaThatIsDrainedWhileItComesUpIsNotReportedToServe() {
        ActuatorFixture actuator = actuator(changeTiming(0, 6, 6), changeTiming(2, 0, 0));

        actuator.take(0, serve("i1", "i2"));
        actuator.take(1, idle(30, "i2"));
        actuator.advance(60);

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED i1,i2",
                        "1 d/1/2 ACCEPTED i2",
                        "3 d/1/2 RELEASED i2",
                        "6 d/1/1 BOUND i1",
                        "6 d/1/1 APPLIED i1 (without i2)",
                        "6 d/1/2 APPLIED i2");
        assertThat(actuator.holdings()).containsExactly("i1 chat BOUND");
    }

    @Test
    void aLaterChangeIsInForceWithoutTheGpusOnWhichTheJobDidNotComeUp() {
        ActuatorFixture actuator = actuator(
                ChangeTiming.AT_ONCE,
                changeTiming(0, 30, 0, ChangeTiming.FailureMode.BIND_FAILS),
                changeTiming(0, 0, 40));
        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.log.clear();

        actuator.take(100, resize(BERT, gpus("t2"), "t1", "t2"));
        actuator.take(110, resize(BERT, gpus(), "t1", "t2"));
        actuator.advance(200);

        assertThat(actuator.log)
                .containsExactly(
                        "100 d/1/2 ACCEPTED t2",
                        "110 d/1/3 ACCEPTED -",
                        "130 d/1/2 FAILED t2 (did not come up)",
                        "150 d/1/3 APPLIED t1 (without t2)");
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND");
    }

    @Test
    void aChangeIsInForceThoughTheNextHasFailed() {
        ActuatorFixture actuator =
                actuator(changeTiming(0, 5, 50), changeTiming(0, 30, 0, ChangeTiming.FailureMode.BIND_FAILS));

        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.take(10, resize(BERT, gpus("t2"), "t1", "t2"));
        actuator.advance(60);

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED t1",
                        "5 d/1/1 BOUND t1",
                        "10 d/1/2 ACCEPTED t2",
                        "40 d/1/2 FAILED t2 (did not come up)",
                        "50 d/1/1 APPLIED t1");
    }

    @Test
    void eachReportSaysHowLongThePartsTookOneAfterTheOther() {
        ActuatorFixture actuator = actuator(ChangeTiming.AT_ONCE, changeTiming(2, 3, 20));
        actuator.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));

        actuator.take(100, resize(BERT, gpus("t2", "t3"), "t1", "t3"));
        List<ActuationReport> reports = actuator.advance(200);

        assertThat(reports)
                .extracting(ActuationReport::timings)
                .containsExactly(
                        parts(Optional.empty(), Optional.empty()),
                        parts(Optional.of(seconds(3)), Optional.empty()),
                        parts(Optional.of(seconds(3)), Optional.of(seconds(15))));
        assertThat(reports)
                .extracting(ActuationReport::tenant)
                .containsOnly(Optional.of(BERT))
                .hasSize(3);
        assertThat(actuator.log).endsWith("102 d/1/2 RELEASED t2", "105 d/1/2 BOUND t3", "120 d/1/2 APPLIED t1,t3");
    }

    private static Timings parts(Optional<Duration> bind, Optional<Duration> ready) {
        return new Timings(Optional.empty(), Optional.of(seconds(2)), bind, ready);
    }

    @Test
    void aReleaseIsOwedByTheEarlierDeadlineOfALaterDecisionButOnlyForTheGpusThatItNames() {
        ActuatorFixture actuator = actuator(ChangeTiming.AT_ONCE, changeTiming(30, 0, 0), ChangeTiming.AT_ONCE);
        actuator.take(0, resize(BERT, gpus("t1", "t2", "t3"), "t1", "t2", "t3"));
        actuator.take(100, resize(BERT, gpus("t2", "t3"), "t1"));
        actuator.log.clear();

        actuator.take(110, reclaim(BERT, 115, gpus("t2"), "t1"));
        actuator.advance(114);
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND", "t2 bert RELEASING", "t3 bert RELEASING");
        actuator.advance(200);

        assertThat(actuator.log)
                .contains(
                        "115 d/1/3 FORCED t2 (first asked for by d/1/2; still there at the deadline)",
                        "130 d/1/2 RELEASED t3")
                .filteredOn(line -> line.contains("t2") || line.contains("t3"))
                .hasSize(3);
        assertThat(actuator.holdings()).containsExactly("t1 bert BOUND");
    }

    @Test
    void aReplicaThatDoesNotStopByTheDeadlineIsForced() {
        ActuatorFixture actuator =
                actuator(ChangeTiming.AT_ONCE, changeTiming(1, 0, 0, ChangeTiming.FailureMode.STUCK_RELEASE));
        actuator.take(0, serve("i1", "i2"));
        actuator.log.clear();

        actuator.take(100, idle(130, "i2"));
        List<ActuationReport> reports = actuator.advance(200);

        assertThat(actuator.log)
                .containsExactly(
                        "100 d/1/2 ACCEPTED i2",
                        "130 d/1/2 FORCED i2 (still there at the deadline)",
                        "130 d/1/2 APPLIED i2");
        assertThat(reports.get(0).tenant()).contains(CHAT);
        assertThat(reports.get(0).timings().release()).contains(seconds(30));
    }

    @Test
    void aReleaseThatIsNotReportedFreesTheGpuAllTheSame() {
        ActuatorFixture actuator = new ActuatorFixture(new DelayModel() {
            @Override
            public ChangeTiming changeTiming(ChangeFacts facts) {
                return ActuatorFixture.changeTiming(1, 0, 0);
            }

            @Override
            public boolean isSilent(DecisionId decision, Tenant tenant) {
                return decision.sequence() == 2;
            }
        });
        actuator.take(0, serve("i1", "i2"));
        actuator.log.clear();

        actuator.take(100, idle(130, "i2"));
        actuator.advance(200);

        assertThat(actuator.log).containsExactly("100 d/1/2 ACCEPTED i2");
        assertThat(actuator.holdings()).containsExactly("i1 chat BOUND");
    }

    @Test
    void aChangeIsPlannedWithWhatTheJobHasAndWhatItsLastChangeStillNeeds() {
        ActuatorFixture actuator = actuator(changeTiming(0, 3, 20), changeTiming(2, 3, 20));
        actuator.actuation().know(job(BERT, true));

        DecisionId first = actuator.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        DecisionId second = actuator.take(5, resize(BERT, gpus("t2", "t3", "t4"), "t1", "t3", "t4"));

        assertThat(changes)
                .containsExactly(
                        new ChangeFacts(
                                first,
                                BERT,
                                List.of(),
                                gpus("t1", "t2"),
                                0,
                                2,
                                Mechanism.AFE,
                                10,
                                Duration.ZERO,
                                Optional.of(job(BERT, true)),
                                Optional.empty()),
                        new ChangeFacts(
                                second,
                                BERT,
                                gpus("t2"),
                                gpus("t3", "t4"),
                                2,
                                3,
                                Mechanism.AFE,
                                10,
                                seconds(15),
                                Optional.of(job(BERT, true)),
                                Optional.empty()));
    }

    @Test
    void aReplicaIsPlannedWithWhatItsServiceDeclares() {
        ActuatorFixture actuator = actuator(changeTiming(0, 3, 20), changeTiming(0, 3, 20), changeTiming(0, 3, 20));
        actuator.actuation().know(service());

        DecisionId first = actuator.take(0, serve("i1"));
        actuator.take(5, serve("i2"));
        actuator.actuation().forget(DOMAIN, CHAT.service());
        actuator.take(6, serve("i3"));

        assertThat(changes.get(0))
                .isEqualTo(new ChangeFacts(
                        first,
                        CHAT,
                        List.of(),
                        gpus("i1"),
                        0,
                        1,
                        Mechanism.UNKNOWN,
                        0,
                        Duration.ZERO,
                        Optional.empty(),
                        Optional.of(service())));
        assertThat(changes).extracting(ChangeFacts::remaining).containsOnly(Duration.ZERO);
        assertThat(changes.get(2).service()).isEmpty();
    }

    @Test
    void aJobThatIsForgottenIsPlannedAsOneThatIsNotKnown() {
        ActuatorFixture actuator = actuator(ChangeTiming.AT_ONCE, ChangeTiming.AT_ONCE);
        actuator.actuation().know(job(BERT, true));

        actuator.take(0, resize(BERT, gpus("t1"), "t1"));
        actuator.actuation().forget(DOMAIN, BERT.job());
        actuator.take(1, resize(BERT, gpus("t2"), "t1", "t2"));

        assertThat(changes)
                .extracting(ChangeFacts::job)
                .containsExactly(Optional.of(job(BERT, true)), Optional.empty());
    }

    @Test
    void aTimingWithANegativePartIsRefused() {
        assertThatThrownBy(() -> changeTiming(0, -1, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the parts of a change must take at least 0 s, but were PT0S, PT-1S, PT0S");
    }
}
