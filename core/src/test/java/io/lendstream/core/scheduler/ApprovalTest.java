package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Owner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ApprovalTest {
    /** Two training GPUs, four of inference, a job that waits, and the first advice on it. */
    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 2)
            .node("infer", Pool.INFERENCE, 4)
            .service("chat", 1)
            .settled()
            .control(ControlCommand.Kind.ADVISORY_ON)
            .job("a", 2)
            .after(ofSeconds(45))
            .rate("chat", 1)
            .after(ofSeconds(15));

    private final Decision advice = story.last().get(0);

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations())
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .extracting(Violation::text)
                .isEmpty();
    }

    @Test
    void adviceIsDecidedAgainAsABindingDecision() {
        assertThat(advice.advisory()).isTrue();

        story.approve(advice.id());

        assertThat(story.last()).singleElement().satisfies(decision -> {
            assertThat(decision.advisory()).isFalse();
            assertThat(decision.id()).isGreaterThan(advice.id());
            assertThat(decision.action()).isEqualTo(advice.action());
            assertThat(decision.reason().code()).isEqualTo("approved");
            assertThat(decision.reason().text()).contains(advice.id().toString(), "tester");
            assertThat(decision.reason().inputs()).containsAll(advice.reason().inputs());
        });
        assertThat(story.count("binding")).isEqualTo(1);
        story.settled();
        assertThat(story.job("a").gpus()).isEqualTo(1);
        assertThat(story.owner("train-g0")).isInstanceOf(Owner.Training.class);
    }

    @Test
    void whatIsDoneAlreadyIsNotDoneTwice() {
        story.approve(advice.id()).settled();

        story.approve(advice.id());

        assertHeld("job a has other GPUs now");
        assertThat(story.job("a").gpus()).isEqualTo(1);
    }

    @Test
    void aLoanIsNotMadeOnceItsGpuIsTaken() {
        Decision lend = adviceToLend();
        story.control(ControlCommand.Kind.ADVISORY_OFF).rate("chat", 200).settled();
        story.control(ControlCommand.Kind.ADVISORY_ON);

        story.approve(lend.id());

        assertHeld("it is not advice that still stands; 'lendstream explain advice' lists the advice that stands");
    }

    @Test
    void aLoanIsRefusedWhileTheDomainIsFrozen() {
        Decision lend = adviceToLend();
        story.control(ControlCommand.Kind.FREEZE).approve(lend.id());

        assertHeld("the domain is frozen");
    }

    @Test
    void aLoanIsRefusedWhileDemandIsUnknown() {
        Decision lend = adviceToLend();
        story.after(ofSeconds(50)).approve(lend.id());

        assertHeld("the request rates of chat are");
    }

    @Test
    void anApprovedLoanIsLent() {
        Decision lend = adviceToLend();

        story.approve(lend.id()).settled();

        assertThat(story.count("lent")).isPositive();
    }

    @Test
    void aDecisionThatWasNotAdvisedCannotBeApproved() {
        story.approve(new DecisionId(Scenario.DOMAIN, 1, 9999));

        assertHeld(
                "decision test/1/9999 cannot be approved: it is not advice that still stands; 'lendstream explain advice' lists the advice that stands");
    }

    @Test
    void adviceThatStandsIsNotWrittenAgain() {
        int written = story.decisions().size();
        for (int plan = 0; plan < 3; plan++) {
            planAgain(ControlCommand.Kind.THAW);
        }

        assertThat(story.decisions()).hasSize(written);
        assertThat(story.state().advice().orElseThrow().find(advice.id())).contains(advice);
        story.approve(advice.id()).settled();
        assertThat(story.job("a").gpus()).isEqualTo(1);
    }

    @Test
    void adviceThatNoPlanRepeatsIsWithdrawn() {
        planAgain(ControlCommand.Kind.FREEZE);

        story.approve(advice.id());
        assertHeld("it is not advice that still stands; 'lendstream explain advice' lists the advice that stands");

        planAgain(ControlCommand.Kind.THAW);
        assertThat(story.last()).singleElement().satisfies(decision -> {
            assertThat(decision.id()).isGreaterThan(advice.id());
            assertThat(decision.action()).isEqualTo(advice.action());
        });
    }

    /** A command that calls for a new plan, and the time until it is made. */
    private void planAgain(ControlCommand.Kind command) {
        story.control(command).after(ofSeconds(45)).rate("chat", 1).after(ofSeconds(15));
    }

    @Test
    void adviceIsForgottenWhenDecisionsAreBindingAgain() {
        story.control(ControlCommand.Kind.ADVISORY_OFF);

        assertThat(story.state().advice()).isEmpty();
    }

    @Test
    void aBindWithoutAReportPutsTheGpuOutOfServiceThoughNothingElseIsDecided() {
        story.approve(advice.id()).rate("chat", 1).after(ofSeconds(61));

        GpuId gpu = advice.action().gpus().get(0);
        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Quarantined.class);
        assertThat(story.job("a").gpus()).isZero();
    }

    @Test
    void aJobThatHasEndedLeavesItsGpusOnceThatIsApproved() {
        story.approve(advice.id())
                .settled()
                .progress("a", JobPhase.RUNNING)
                .after(ofSeconds(5))
                .progress("a", JobPhase.CANCELLED);
        planAgain(ControlCommand.Kind.THAW);
        Decision release = story.decisions().stream()
                .filter(Decision::isRelease)
                .findFirst()
                .orElseThrow();
        assertThat(release.advisory()).isTrue();
        assertThat(story.owner("train-g0").isFree()).isFalse();

        story.approve(release.id());

        assertThat(story.last()).singleElement().satisfies(decision -> {
            assertThat(decision.advisory()).isFalse();
            assertThat(decision.isRelease()).isTrue();
            assertThat(decision.reason().text()).contains("a was cancelled", "approved by tester");
        });
        story.settled();
        assertThat(story.owner("train-g0").isFree()).isTrue();
        story.approve(release.id());
        assertHeld("job a has ended, and has left its GPUs");
    }

    /** The job has all of training's own GPUs, and is advised a loan. */
    private Decision adviceToLend() {
        story.approve(advice.id()).settled().progress("a", JobPhase.RUNNING).job("b", 4);
        for (int i = 0; i < 40; i++) {
            story.rate("chat", 1).after(ofSeconds(15));
            for (Decision decision : story.last()) {
                if (decision.action() instanceof Action.Lend && decision.advisory()) {
                    return decision;
                }
                if (decision.action() instanceof Action.Resize && decision.advisory()) {
                    story.approve(decision.id()).settled();
                    if (story.job("b").gpus() > 0) {
                        story.progress("b", JobPhase.RUNNING);
                    }
                    if (story.job("a").gpus() > 0) {
                        story.progress("a", JobPhase.RUNNING);
                    }
                }
            }
        }
        throw new AssertionError("no loan was advised");
    }

    private void assertHeld(String why) {
        assertThat(story.last()).singleElement().satisfies(decision -> {
            assertThat(decision.action()).isInstanceOf(Action.Hold.class);
            assertThat(decision.reason().text()).contains(why);
        });
    }
}
