package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.UnitReview.Cause;
import io.lendstream.core.state.GpuState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What each level of trust allows. */
class TrustLevelsTest {
    private Scenario story = first("advise");

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations())
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .extracting(Violation::text)
                .isEmpty();
    }

    /** Domains that begin at a level, with 8 inference GPUs and a training GPU. */
    private static Scenario first(String level) {
        return new Scenario(
                        new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("first-trust", level))))
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 8)
                .service("chat", 1)
                .service("search", 1)
                .settled();
    }

    private void rates(double chat, double search) {
        story.rate("chat", chat).settled().rate("search", search).settled();
    }

    /** Eight jobs of a GPU each want every idle GPU. */
    private void jobs() {
        for (int i = 0; i < 8; i++) {
            story.rigidJob("job-" + i, 1).settled();
        }
    }

    private void minutes(int count, double chat, double search) {
        for (int minute = 0; minute < count; minute++) {
            for (int quarter = 0; quarter < 4; quarter++) {
                rates(chat, search);
                story.after(ofSeconds(15)).settled();
            }
            story.state().jobs().stream()
                    .filter(job -> job.gpus() > 0)
                    .map(job -> job.spec().job().value())
                    .toList()
                    .forEach(job -> story.progress(job, JobPhase.RUNNING).settled());
        }
    }

    private long lent() {
        return story.count("lent");
    }

    private List<Decision> binding() {
        return story.decisions().stream()
                .filter(decision -> !decision.advisory() && !decision.action().isHold())
                .toList();
    }

    @Test
    void theFirstStartGivesTheLevelAndLaterStartsLeaveIt() {
        assertThat(story.state().mode().level()).isEqualTo(TrustLevel.ADVISE);
        story.trust(TrustLevel.ALL, true);

        story.takenOverBy(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("first-trust", "observe"))));

        assertThat(story.state().mode().level()).isEqualTo(TrustLevel.ALL);
    }

    @Test
    void aDomainThatBeganWithoutLevelsKeepsNone() {
        story = Scenario.of("deepboot").node("infer", Pool.INFERENCE, 2);
        assertThat(story.state().mode().trust()).isEmpty();

        story.takenOverBy(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("first-trust", "advise"))));

        assertThat(story.state().mode().trust()).isEmpty();
        assertThat(story.state().mode().level()).isEqualTo(TrustLevel.ALL);
    }

    @Test
    void observingDecidesNothing() {
        story = first("observe");
        jobs();

        minutes(5, 25, 5);

        assertThat(story.decisions()).isEmpty();
        assertThat(story.state().nextPlanAt())
                .hasValueSatisfying(next -> assertThat(next).isAfter(story.now()));
        LendingReview review = LendingReview.of(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS), story.state(), story.now());
        assertThat(review.inference()).extracting(UnitReview::cause).containsOnly(Cause.TRUST);
    }

    @Test
    void atAdviceEverythingIsAdviceAndMayBeApproved() {
        jobs();
        minutes(4, 5, 5);

        assertThat(binding()).isEmpty();
        Decision lend = story.state().advice().orElseThrow().decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend)
                .findFirst()
                .orElseThrow();
        story.approve(lend.id()).settled();
        long lent = lent();
        assertThat(lent).isPositive();

        story.trust(TrustLevel.ADVISE, false).settled();
        assertThat(lent()).as("approved loans stay at the same level").isEqualTo(lent);
    }

    @Test
    void switchingAdvisoryModeOffIsNoWayAroundTheLevel() {
        jobs();
        story.control(ControlCommand.Kind.ADVISORY_ON).control(ControlCommand.Kind.ADVISORY_OFF);

        assertThat(story.last()).singleElement().satisfies(hold -> {
            assertThat(hold.action().isHold()).isTrue();
            assertThat(hold.reason().text()).contains("the level of trust is advise");
        });
        minutes(4, 5, 5);
        assertThat(binding()).isEmpty();
    }

    @Test
    void atOneServiceOnlyTheGpusThatItLeavesAreLent() {
        story.trust(TrustLevel.ONE_SERVICE, true, "chat").settled();
        minutes(2, 25, 25);
        assertThat(replicas("chat")).as("inference gets what it needs").isEqualTo(3);
        jobs();
        minutes(3, 25, 25);
        assertThat(lent()).as("no GPU was left by chat").isZero();

        minutes(40, 5, 5);

        List<GpuState> lent = story.state().gpus().stream()
                .filter(unit -> unit.owner().isLent())
                .toList();
        assertThat(lent).isNotEmpty();
        assertThat(lent).extracting(GpuState::lastService).containsOnly(Optional.of(new ServiceId("chat")));
        GpuState other = story.state().gpus().stream()
                .filter(unit -> unit.pool() == Pool.INFERENCE && unit.isFree())
                .findFirst()
                .orElseThrow();
        assertThat(review(other.gpuId()).cause()).isEqualTo(Cause.TRUST);
        assertThat(review(other.gpuId()).reason()).contains("the level of trust is one (service chat)");
    }

    private UnitReview review(GpuId unit) {
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
        return LendingReview.of(scheduler, story.state(), story.now()).of(unit).get(0);
    }

    private long replicas(String service) {
        return story.state().gpus().stream()
                .filter(unit ->
                        unit.owner().isServing() && unit.lastService().equals(Optional.of(new ServiceId(service))))
                .count();
    }

    @Test
    void atShareAtMostTheShareIsLent() {
        story.trust(TrustLevel.SHARE, true).settled();
        jobs();

        minutes(5, 5, 5);

        assertThat(lent()).as("a quarter of 8").isEqualTo(2);
        assertThat(story.state().gpus().stream()
                        .filter(unit -> unit.pool() == Pool.INFERENCE && unit.isFree())
                        .map(unit -> review(unit.gpuId())))
                .allSatisfy(review -> assertThat(review.reason())
                        .contains("the level of trust is share, and scheduler.trust-share is 0.25"));
    }

    @Test
    void atAllEverythingIdleIsLent() {
        story.trust(TrustLevel.ALL, true).settled();
        jobs();

        minutes(5, 5, 5);

        assertThat(lent()).isEqualTo(6);
    }

    @Test
    void aLowerLevelTakesTheNewestLoansBackWithNotice() {
        story.trust(TrustLevel.ALL, true).settled();
        jobs();
        minutes(5, 5, 5);

        story.trust(TrustLevel.SHARE, false);

        List<Decision> reclaims =
                story.last().stream().filter(Decision::isReclaim).toList();
        assertThat(reclaims).hasSize(4).allSatisfy(reclaim -> {
            assertThat(reclaim.reason().code()).isEqualTo("trust");
            assertThat(reclaim.deadline()).isEqualTo(story.now().plusSeconds(45));
        });
        story.settled();
        minutes(3, 5, 5);
        assertThat(lent()).isEqualTo(2);
    }

    @Test
    void goingBackToAdviceTakesEveryLoanBackFirst() {
        story.trust(TrustLevel.ALL, true).settled();
        jobs();
        minutes(5, 5, 5);
        assertThat(lent()).isEqualTo(6);

        story.trust(TrustLevel.ADVISE, false);

        assertThat(story.last().stream().filter(Decision::isReclaim)).hasSize(6).noneMatch(Decision::advisory);
        story.settled();
        assertThat(lent()).isZero();
        int decided = binding().size();
        minutes(3, 25, 5);
        assertThat(binding()).hasSize(decided);
    }
}
