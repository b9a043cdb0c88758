package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.CHAT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.changeTiming;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.idle;
import static io.lendstream.core.actuation.ActuatorFixture.job;
import static io.lendstream.core.actuation.ActuatorFixture.lend;
import static io.lendstream.core.actuation.ActuatorFixture.node;
import static io.lendstream.core.actuation.ActuatorFixture.reclaim;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static io.lendstream.core.actuation.ActuatorFixture.serve;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a refusal says, and what it leaves as it was; a release takes 10 s, a bind 3 s. */
class RefusedDecisionsTest {
    private final ActuatorFixture actuator = new ActuatorFixture(tenantChange -> changeTiming(10, 3, 0));

    @Test
    void aRefusalNamesTheTenantThatTheDecisionIsAbout() {
        var batching = new Action.Batching(CHAT.service(), gpus("i1"), Optional.empty(), List.of());
        List<Optional<Tenant>> tenants = new ArrayList<>();
        long sequence = 0;

        for (Action action : List.of(
                lend(BERT, 400, gpus("i1"), "i1"),
                reclaim(BERT, 45, gpus("i1")),
                resize(BERT, gpus("t1"), "t1"),
                serve("i1"),
                idle(45, "i1"),
                batching,
                new Action.Renew(gpus("i1"), at(400)),
                new Action.Repartition(gpus("i1"), List.of()))) {
            for (ActuationReport report : actuator.take(new DecisionId(DOMAIN, 1, ++sequence), 0, true, action)) {
                assertThat(report.outcome()).isEqualTo(Outcome.REJECTED);
                assertThat(report.gpus()).isEqualTo(action.gpus());
                tenants.add(report.tenant());
            }
        }

        Optional<Tenant> bert = Optional.of(BERT);
        Optional<Tenant> chat = Optional.of(CHAT);
        Optional<Tenant> none = Optional.empty();
        assertThat(tenants).containsExactly(bert, bert, bert, chat, chat, chat, none, none);
        assertThat(actuator.actuation().refusals())
                .containsEntry(Refusal.ADVISORY, 8L)
                .hasSize(1);
    }

    /** It asks for nothing. An answer would be made once more, with its old time, by an actuator that starts later. */
    @Test
    void anAdvisoryHoldIsNotRefused() {
        var hold = new Action.Hold(Optional.of(BERT.job()), Optional.empty());

        assertThat(actuator.take(new DecisionId(DOMAIN, 1, 1), 0, true, hold)).isEmpty();

        assertThat(actuator.actuation().refusals()).isEmpty();
        assertThat(actuator.actuation().latest(DOMAIN)).contains(new DecisionId(DOMAIN, 1, 1));
    }

    @Test
    void aReplicaThatIsStillComingUpIsNotWarm() {
        actuator.take(0, serve("i1"));

        actuator.take(1, new Action.Serve(CHAT.service(), gpus("i1"), true));
        actuator.take(4, new Action.Serve(CHAT.service(), gpus("i1"), true));

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 ACCEPTED i1",
                        "1 d/1/2 REJECTED i1 (i1 has no warm replica of service chat: it is being bound to service"
                                + " chat)",
                        "3 d/1/1 BOUND i1",
                        "3 d/1/1 APPLIED i1",
                        "4 d/1/3 ACCEPTED i1",
                        "4 d/1/3 APPLIED i1");
        assertThat(actuator.actuation().refusals()).containsEntry(Refusal.GPU_NOT_HELD, 1L);
    }

    @Test
    void aReplicaIsNotWarmWhereAnotherTenantRuns() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "i1"));
        actuator.advance(10);
        actuator.log.clear();

        actuator.take(11, new Action.Serve(CHAT.service(), gpus("i1"), true));

        assertThat(actuator.log)
                .containsExactly("11 d/1/2 REJECTED i1 (i1 has no warm replica of service chat: job bert has it, and"
                        + " its release has not been asked for)");
        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND");
    }

    @Test
    void aReplicaIsNotStartedWhereSomethingElseIsStillLeaving() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "i1"));
        actuator.take(10, reclaim(BERT, 55, gpus("i1")));
        actuator.log.clear();

        actuator.take(11, serve("i1", "i2"));
        actuator.take(21, serve("i1", "i2"));

        assertThat(actuator.log)
                .containsExactly(
                        "11 d/1/3 REJECTED i1,i2 (i1 cannot be bound: job bert is still leaving it)",
                        "20 d/1/2 RELEASED i1",
                        "20 d/1/2 APPLIED -",
                        "21 d/1/4 ACCEPTED i1,i2");
        assertThat(actuator.actuation().refusals())
                .containsEntry(Refusal.GPU_HELD, 1L)
                .hasSize(1);
    }

    @Test
    void replicasThatAnotherTenantHasAreNotDrained() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "i1"));
        actuator.take(0, serve("i2"));
        actuator.advance(10);
        actuator.log.clear();

        actuator.take(11, idle(50, "i1", "i2", "i3"));
        actuator.advance(50);

        assertThat(actuator.log)
                .containsExactly(
                        "11 d/1/3 ACCEPTED i2,i3",
                        "11 d/1/3 REJECTED i1 (i1 is not service chat's: job bert has it, and its release has not been"
                                + " asked for)",
                        "11 d/1/3 RELEASED i3 (nothing ran there any more)",
                        "21 d/1/3 RELEASED i2",
                        "21 d/1/3 APPLIED i2,i3");
        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND");
        assertThat(actuator.actuation().refusals())
                .containsEntry(Refusal.GPU_NOT_HELD, 1L)
                .hasSize(1);
    }

    @Test
    void aRefusedLendDoesNotMoveTheLeaseOfGpusThatTheJobKeeps() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "i1"));
        actuator.take(0, serve("i2"));
        actuator.advance(10);
        actuator.log.clear();

        actuator.take(11, lend(BERT, 900, gpus("i1", "i2"), "i1"));

        assertThat(actuator.log)
                .containsExactly("11 d/1/3 REJECTED i2 (i2 is not job bert's: service chat has it, and its release has"
                        + " not been asked for)");
        assertThat(actuator.loans()).containsExactly("i1 d/1/1 400");
    }

    @Test
    void aLeaseThatEndsTheMomentItWouldBeginIsOver() {
        actuator.take(100, lend(BERT, 100, gpus("i1"), "i1"));
        actuator.take(100, lend(BERT, 100.001, gpus("i1"), "i1"));

        assertThat(actuator.log)
                .containsExactly(
                        "100 d/1/1 REJECTED i1 (the lease until 2026-01-01T12:01:40Z is over at 2026-01-01T12:01:40Z)",
                        "100 d/1/2 ACCEPTED i1");
        assertThat(actuator.actuation().refusals())
                .containsEntry(Refusal.LEASE_OVER, 1L)
                .hasSize(1);
    }

    @Test
    void whatAJobCannotHaveOfItsAllocationIsCountedOncePerDecision() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1", "i1", "i2"));

        assertThat(actuator.log).contains("0 d/1/1 ACCEPTED t1 (goes on without i1, i2: it has no tenant)");
        assertThat(actuator.actuation().refusals())
                .containsEntry(Refusal.NOT_ON_LOAN, 1L)
                .hasSize(1);
    }

    @Test
    void aGangDoesNotStartWithoutSomeOfItsGpus() {
        actuator.actuation().know(job(BERT, true).shaped(JobShape.ANY.together()));

        actuator.take(0, resize(BERT, gpus("t1"), "t1", "i1", "i2"));

        assertThat(actuator.log)
                .containsExactly(
                        "0 d/1/1 REJECTED t1 (job bert is a gang and would start without i1, i2: it has no tenant)");
        assertThat(actuator.holdings()).isEmpty();
    }

    /** What it is to leave has to come back in any case. */
    @Test
    void aGangThatLeavesAGpuGoesOnWithoutWhatItHasNot() {
        actuator.actuation().know(job(BERT, true).shaped(JobShape.ANY.together()));
        actuator.take(0, resize(BERT, gpus("t1", "t2"), "t1", "t2"));
        actuator.advance(10);

        actuator.take(11, resize(BERT, gpus("t2", "t3"), "t1", "t3", "i1"));

        assertThat(actuator.log).contains("11 d/1/2 ACCEPTED t2,t3 (goes on without i1: it has no tenant)");
    }

    @Test
    void aResizeBindsNoTrainingGpuThatItDoesNotName() {
        actuator.take(0, resize(BERT, gpus("t1"), "t1", "t2"));

        assertThat(actuator.log).contains("0 d/1/1 ACCEPTED t1 (goes on without t2: it has no tenant)");
        assertThat(actuator.holdings()).containsExactly("t1 bert BINDING");
    }

    @Test
    void aJobDoesNotGetAGpuOfAnotherDomainThatOnlyItsAllocationNames() {
        actuator.actuation().know(node(new DomainId("theirs"), "n1", Pool.TRAINING, "h1"));

        actuator.take(0, lend(BERT, 400, gpus("i1"), "h1", "i1"));

        assertThat(actuator.log).containsExactly("0 d/1/1 ACCEPTED i1 (goes on without h1: it has no tenant)");
        assertThat(actuator.holdings()).containsExactly("i1 bert BINDING");
    }

    @Test
    void aReplicaIsNotDrainedWhereOnlyAnotherTenantRuns() {
        actuator.take(0, lend(BERT, 400, gpus("i1"), "i1"));
        actuator.advance(10);
        actuator.log.clear();

        actuator.take(11, idle(50, "i1"));
        actuator.advance(60);

        assertThat(actuator.log)
                .containsExactly("11 d/1/2 REJECTED i1 (i1 is not service chat's: job bert has it, and its release has"
                        + " not been asked for)");
        assertThat(actuator.holdings()).containsExactly("i1 bert BOUND");
    }

    @Test
    void aDecisionThatGivesGpusAfterItsDeadlineIsRefusedWithNumbers() {
        actuator.actuation().refuseLate();

        actuator.take(60.001, 60, serve("i1"));
        actuator.take(66, 60, lend(BERT, 400, gpus("i1"), "i1"));
        actuator.take(67, 60, resize(BERT, gpus("t1"), "t1"));

        assertThat(actuator.log)
                .containsExactly(
                        "60.001 d/1/1 REJECTED i1 (too late: it arrived at 2026-01-01T12:01:00.001Z by this actuator's"
                                + " clock, 0.001 s after its deadline 2026-01-01T12:01:00Z)",
                        "66 d/1/2 REJECTED i1 (too late: it arrived at 2026-01-01T12:01:06Z by this actuator's clock,"
                                + " 6.000 s after its deadline 2026-01-01T12:01:00Z)",
                        "67 d/1/3 REJECTED t1 (too late: it arrived at 2026-01-01T12:01:07Z by this actuator's clock,"
                                + " 7.000 s after its deadline 2026-01-01T12:01:00Z)");
        assertThat(actuator.actuation().refusals())
                .containsEntry(Refusal.TOO_LATE, 3L)
                .hasSize(1);
        assertThat(actuator.holdings()).isEmpty();
    }

    @Test
    void aDecisionAtItsDeadlineIsInTime() {
        actuator.actuation().refuseLate();

        actuator.take(60, 60, serve("i1"));

        assertThat(actuator.log).first().isEqualTo("60 d/1/1 ACCEPTED i1");
    }

    @Test
    void aLateDecisionIsAcceptedAndFailsWhereLatenessIsNotRefused() {
        actuator.take(4000, 60, serve("i1"));

        assertThat(actuator.log)
                .containsExactly(
                        "4000 d/1/1 ACCEPTED i1", "4000 d/1/1 FAILED i1 (did not come up until 2026-01-01T13:06:40Z)");
    }

    @Test
    void aTenantLeavesItsGpusHoweverLateTheDecisionIs() {
        actuator.actuation().refuseLate();
        actuator.take(0, lend(BERT, 9000, gpus("i1"), "i1"));
        actuator.take(1, serve("i2"));
        actuator.take(2, resize(BERT, gpus("t1"), "t1", "i1"));
        actuator.advance(100);
        actuator.log.clear();

        actuator.take(500, 60, resize(BERT, gpus("t1", "t2"), "t2", "i1")); // gives t2, and takes t1
        actuator.take(600, 60, idle(60, "i2"));
        actuator.take(700, 60, reclaim(BERT, 60, gpus("i1"), "t1")); // gives t1 too
        actuator.advance(800);
        actuator.take(900, 60, reclaim(BERT, 60, gpus("i1"))); // i1 is free already

        assertThat(actuator.log)
                .contains(
                        "500 d/1/4 ACCEPTED t1,t2",
                        "600 d/1/5 ACCEPTED i2",
                        "700 d/1/6 ACCEPTED i1,t1",
                        "900 d/1/7 RELEASED i1 (nothing ran there any more)")
                .noneMatch(line -> line.contains("REJECTED"));
        assertThat(actuator.actuation().refusals()).isEmpty();
    }

    @Test
    void aWarmReplicaServesAgainAndABatchSizeChangesHoweverLateTheDecisionIs() {
        actuator.actuation().refuseLate();
        actuator.take(0, serve("i1"));
        actuator.take(1, resize(BERT, gpus("t1"), "t1"));
        actuator.advance(100);
        actuator.log.clear();

        actuator.take(500, 60, new Action.Serve(CHAT.service(), gpus("i1"), true));
        actuator.take(501, 60, resize(BERT, List.of(), "t1"));

        assertThat(actuator.log).contains("500 d/1/3 ACCEPTED i1").noneMatch(line -> line.contains("REJECTED"));
    }
}
