package io.lendstream.core.scheduler;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Trust;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When the level of trust changes, and when it does not. */
class TrustLadderTest {
    private final Scenario story = new Scenario(
                    new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("first-trust", "advise"))))
            .node("train", Pool.TRAINING, 1)
            .node("infer", Pool.INFERENCE, 4)
            .service("chat", 1)
            .settled();

    private Trust trust() {
        return story.state().mode().trust().orElseThrow();
    }

    private Decision answer() {
        return story.last().stream()
                .filter(decision -> decision.action().isHold())
                .findFirst()
                .orElseThrow();
    }

    private void assertRefused(String why) {
        assertThat(answer().reason().numbers()).containsEntry("refused", 1.0);
        assertThat(answer().reason().text()).contains(why);
        assertThat(answer().advisory()).isFalse();
    }

    @Test
    void theLevelRisesOneStepAfterThreeDays() {
        story.withoutTicks(ofDays(3).minusSeconds(1)).trust(TrustLevel.ONE_SERVICE, false, "chat");
        assertRefused(
                "3 days without a late reclaim are needed (scheduler.trust-step-after), and 2.9 days have passed");
        assertThat(trust().level()).isEqualTo(TrustLevel.ADVISE);

        story.withoutTicks(ofSeconds(1)).trust(TrustLevel.SHARE, false);
        assertRefused("it rises one step at a time, and the next one is one");

        story.trust(TrustLevel.ONE_SERVICE, false, "chat");
        assertThat(answer().reason().numbers()).containsEntry("refused", 0.0);
        assertThat(trust().inWords()).isEqualTo("one (service chat)");
        assertThat(trust().since()).isEqualTo(story.now());
        assertThat(trust().by()).isEqualTo("tester");
    }

    @Test
    void anywayOverridesAndTheRecordSaysWho() {
        story.trust(TrustLevel.ALL, true);

        assertThat(trust().level()).isEqualTo(TrustLevel.ALL);
        assertThat(answer().reason().text())
                .contains("by order of tester, who ordered it anyway, although it rises one step at a time");
    }

    @Test
    void aServiceThatIsNotKnownIsRefusedAlsoAnyway() {
        story.trust(TrustLevel.ONE_SERVICE, true, "chta");

        assertRefused("service chta is unknown in this domain");
    }

    @Test
    void aServiceThatIsNotKnownIsRefusedDownwardsAndAtTheSameLevel() {
        for (TrustLevel level : List.of(TrustLevel.ALL, TrustLevel.ONE_SERVICE)) {
            story.trust(level, true, "chat").trust(TrustLevel.ONE_SERVICE, false, "chta");

            assertRefused("service chta is unknown in this domain; declare it, or name another with --service");
            assertThat(trust().level()).isEqualTo(level);
        }
    }

    @Test
    void theRowsOfMissedWindowsAreBounded() {
        Trust trust = trust();
        for (int window = 0; window < 2; window++) {
            for (int source = 0; source < (window == 0 ? 1 : 250); source++) {
                RequestRate rate = story.rateRecord("chat", 1, 1 + window);
                trust = trust.measured(from("source-" + (249 - source), rate, rate.requests()), true);
            }
            story.withoutTicks(ofSeconds(15));
        }

        assertThat(trust.misses()).hasSize(200);
        assertThat(trust.misses().get(0).source()).isEqualTo("source-249");
        assertThat(trust.misses().get(0).windows()).isEqualTo(2);
    }

    private static RequestRate from(String source, RequestRate rate, RequestRate.Requests requests) {
        return new RequestRate(
                rate.service(),
                rate.domain(),
                source,
                rate.bootId(),
                rate.sequence(),
                rate.windowStart(),
                rate.windowEnd(),
                requests,
                rate.latency(),
                List.of(),
                List.of());
    }

    @Test
    void windowsInWhichNothingIsAnsweredMissTheSlo() {
        lent();
        for (int i = 0; i < 3; i++) {
            story.withoutTicks(ofSeconds(15));
            RequestRate rate = story.rateRecord("chat", 35, 1000 + i);
            story.tell(from(rate.source(), rate, new RequestRate.Requests(525, 0, 0, 525)));
        }

        assertThat(trust().level()).isEqualTo(TrustLevel.SHARE);
        assertThat(answer().reason().text()).contains("in 3 windows in a row (no request was answered)");
    }

    @Test
    void anActuatorWhoseClockIsAheadReturnsNothingLate() {
        lent();
        story.rate("chat", 15).withoutTicks(ofSeconds(40));
        GpuState unit = releasing();
        Instant ahead = story.now().plus(ofMinutes(1));
        ActuationReport report = new ActuationReport(
                Scenario.DOMAIN,
                unit.owner().asReleasing().orElseThrow().decision(),
                "test",
                ahead,
                Outcome.RELEASED,
                List.of(unit.gpuId()),
                Optional.of(new Tenant.Job(new JobId("a"))),
                Timings.NONE,
                "");
        ClusterState state = story.state();
        DomainEvent logged = new DomainEvent(
                Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, story.now(), Optional.empty(), report);

        Step step = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS).step(state, logged);

        assertThat(step.state().gpus().require(unit.gpuId()).owner().isReleasing())
                .isFalse();
        assertThat(step.state().mode().trust().orElseThrow().lateReclaims()).isZero();
    }

    @Test
    void theLevelFallsAnyNumberOfStepsAtOnce() {
        story.trust(TrustLevel.ALL, true).trust(TrustLevel.OBSERVE, false);

        assertThat(trust().level()).isEqualTo(TrustLevel.OBSERVE);
        assertThat(answer().reason().text())
                .isEqualTo("the level of trust is observe, and was all, by order of tester");
    }

    @Test
    void theSameLevelAgainChangesNothing() {
        Trust before = trust();

        story.after(ofSeconds(5)).trust(TrustLevel.ADVISE, false);

        assertThat(trust()).isEqualTo(before);
        assertThat(answer().reason().text()).contains("is advise already");
    }

    @Test
    void anOrderBeginsTheLadderInADomainWithoutLevels() {
        Scenario old = Scenario.of("deepboot").trust(TrustLevel.ALL, false);

        assertThat(old.state().mode().trust().orElseThrow().level()).isEqualTo(TrustLevel.ALL);
    }

    @Test
    void aLevelOfANewerVersionIsIgnored() {
        story.trust(TrustLevel.UNKNOWN, true);

        assertThat(trust().level()).isEqualTo(TrustLevel.ADVISE);
        assertThat(story.last()).isEmpty();
    }

    /** At the level all, a job has three of four inference GPUs, beside that of training. */
    private void lent() {
        story.trust(TrustLevel.ALL, true).job("a", 4).settled();
        for (int i = 0; i < 60 && story.count("lent") < 3; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(3);
    }

    private GpuState releasing() {
        return story.state().gpus().stream()
                .filter(unit -> unit.owner().isReleasing() && unit.pool() == Pool.INFERENCE)
                .findFirst()
                .orElseThrow();
    }

    private void released(Outcome outcome) {
        GpuState unit = releasing();
        story.tell(story.report(
                unit.owner().asReleasing().orElseThrow().decision(),
                outcome,
                List.of(unit.gpuId()),
                Optional.of(new Tenant.Job(new JobId("a")))));
    }

    @Test
    void aReclaimThatEndsInTimeIsNotLate() {
        lent();
        story.rate("chat", 15).withoutTicks(ofSeconds(45));
        released(Outcome.RELEASED);

        assertThat(trust().lateReclaims()).isZero();
    }

    @Test
    void aReclaimAfterItsDeadlineIsLateAndTheClockBeginsAgain() {
        lent();
        story.rate("chat", 15).withoutTicks(ofSeconds(46));
        released(Outcome.RELEASED);

        assertThat(trust().lateReclaims()).isEqualTo(1);
        assertThat(trust().lastLateAt()).contains(story.now());
        assertThat(trust().cleanSince()).isEqualTo(story.now());
    }

    @Test
    void aReclaimByForceIsLate() {
        lent();
        story.rate("chat", 15).withoutTicks(ofSeconds(45));
        released(Outcome.FORCED);

        assertThat(trust().lateReclaims()).isEqualTo(1);
    }

    @Test
    void aReclaimThatIsNeverReportedIsLate() {
        lent();
        story.rate("chat", 15);
        GpuId unit = releasing().gpuId();
        story.after(ofSeconds(91));

        assertThat(story.owner(unit.value()).isQuarantined()).isTrue();
        assertThat(trust().lateReclaims()).isEqualTo(1);
    }

    @Test
    void aGpuOfAJobThatHasEndedIsNotLate() {
        lent();
        story.progress("a", JobPhase.FINISHED).withoutTicks(ofSeconds(50));
        released(Outcome.RELEASED);

        assertThat(trust().lateReclaims()).isZero();
    }

    @Test
    void theLevelRisesThreeDaysAfterTheLastLateReclaim() {
        story.trust(TrustLevel.SHARE, true);
        Trust late = trust().late(1, story.now().plus(ofDays(2)));
        TrustRules rules = TrustRules.DEFAULTS;

        assertThat(rules.againstRising(
                        story.state().mode().with(late),
                        TrustLevel.ALL,
                        story.now().plus(ofDays(4))))
                .hasValueSatisfying(why -> assertThat(why).contains("2 days have passed", "when a GPU came back late"));
        assertThat(rules.againstRising(
                        story.state().mode().with(late),
                        TrustLevel.ALL,
                        story.now().plus(ofDays(5))))
                .isEmpty();
    }

    /** Windows of 15 s in which chat misses its SLO of 0.5 s. */
    private void misses(int windows) {
        for (int i = 0; i < windows; i++) {
            story.withoutTicks(ofSeconds(15)).served("chat", 35, 0.9, List.of());
        }
    }

    @Test
    void threeWindowsInARowThatMissTheSloLowerTheLevelByOneStep() {
        lent();
        misses(2);
        assertThat(trust().level()).isEqualTo(TrustLevel.ALL);

        misses(1);

        assertThat(trust().level()).isEqualTo(TrustLevel.SHARE);
        assertThat(trust().by()).isEqualTo("the scheduler");
        assertThat(answer().reason().text())
                .isEqualTo(
                        "the level of trust falls from all to share: chat missed its SLO of 0.5 s in 3 windows in a row (p99 0.9 s), and has 1 of 5 replicas that it needs, while 3 GPUs are lent");
    }

    @Test
    void aWindowThatMeetsTheSloBeginsTheCountAgain() {
        lent();
        misses(2);
        story.withoutTicks(ofSeconds(15)).served("chat", 35, 0.4, List.of());
        misses(2);

        assertThat(trust().level()).isEqualTo(TrustLevel.ALL);
    }

    @Test
    void windowsWithAGapBetweenThemAreNotInARow() {
        lent();
        misses(2);
        story.withoutTicks(ofSeconds(40));
        misses(1);

        assertThat(trust().level()).isEqualTo(TrustLevel.ALL);
    }

    @Test
    void theSchedulerLowersTheLevelAtMostOnceAnHour() {
        lent();
        misses(10);

        assertThat(trust().level()).isEqualTo(TrustLevel.SHARE);
    }

    @Test
    void aMissedSloWithoutLoansSaysNothingAboutLending() {
        story.trust(TrustLevel.ALL, true);
        misses(5);

        assertThat(trust().level()).isEqualTo(TrustLevel.ALL);
    }

    @Test
    void theSchedulerNeverGoesBelowAdvice() {
        misses(5);

        assertThat(trust().level()).isEqualTo(TrustLevel.ADVISE);
        assertThat(trust().misses()).isEmpty();
    }

    @Test
    void aDomainWithoutLevelsIsNotLowered() {
        Scenario old = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled();
        for (int i = 0; i < 5; i++) {
            old.withoutTicks(ofSeconds(15)).served("chat", 35, 0.9, List.of());
        }

        assertThat(old.state().mode().trust()).isEmpty();
    }

    @Test
    void theLogCarriesSettingsThatAreNotTheDefault() {
        assertThat(SchedulerSettings.DEFAULTS.toMap())
                .doesNotContainKeys("first-trust", "trust-share", "trust-step-after");
        Map<String, String> set = Map.of("first-trust", "share", "trust-share", "0.5", "trust-step-after", "PT1H");

        SchedulerSettings read = SchedulerSettings.of(set);

        assertThat(read.changeLimits().trust()).isEqualTo(new TrustRules(TrustLevel.SHARE, 0.5, ofMinutes(60)));
        assertThat(read.toMap()).containsAllEntriesOf(set);
        assertThatThrownBy(() -> SchedulerSettings.of(Map.of("first-trust", "one")))
                .hasMessage("scheduler.first-trust must be observe, advise, share or all, but was one");
        assertThatThrownBy(() -> SchedulerSettings.of(Map.of("trust-share", "2")))
                .hasMessage("scheduler.trust-share must lie between 0 and 1, but was 2.0");
    }
}
