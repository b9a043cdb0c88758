package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.UnitReview.Cause;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** GPUs that are not lent because of a setting, an order of an operator, or data that are too old. */
class LendingReviewLimitsTest extends LendingReviewFixture {
    @Test
    void whereLendingIsOffItsSettingIsNamed() {
        with("lending", "false");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);

        assertReview("infer-g1", Cause.LENDING_OFF, "lending is switched off (scheduler.lending=false)");
        assertIsNotLent("infer-g1");
        assertIsLent(scheduler(Map.of()), "infer-g1");
    }

    @Test
    void aFrozenDomainMakesNoPlan() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).control(ControlCommand.Kind.FREEZE);

        assertReview("infer-g1", Cause.NO_PLAN, "no training plan is made: the domain is frozen");
        assertIsNotLent("infer-g1");

        story.control(ControlCommand.Kind.THAW);

        assertIsLent("infer-g1");
    }

    @Test
    void noPlanIsMadeInAQuietWindow() {
        with("quiet-windows", "thu 00:00-00:02");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);

        assertReview(
                "infer-g1", Cause.NO_PLAN, "no training plan is made: the quiet window thu 00:00-00:02 UTC is open");
        assertIsNotLent("infer-g1");

        story.after(ofMinutes(2)).rate("chat", 1);

        assertIsLent("infer-g1");
    }

    @Test
    void whileMostNodesAreSilentNoPlanIsMade() {
        cluster();
        story.rigidJob("a", 1)
                .rigidJob("b", 1)
                .sample("train", Optional.empty())
                .sample("infer", Optional.empty());
        story.withoutTicks(ofSeconds(61)).sample("infer", Optional.empty()).rate("chat", 1);

        assertReview(
                "infer-g1",
                Cause.NO_PLAN,
                "no training plan is made: 1 of 2 nodes does not report, more than 40 %, so the fault is likely in the reporting path");
        assertThat(review("infer-g0").reason()).isEqualTo("chat runs on it");
        assertIsNotLent("infer-g1");

        story.sample("train", Optional.empty());

        assertThat(story.last())
                .anyMatch(decision -> decision.action() instanceof Action.Lend lend
                        && lend.gpus().contains(new GpuId("infer-g1")));
    }

    @Test
    void whileDemandIsStaleNothingMoreIsLent() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).withoutTicks(ofSeconds(50));

        assertReview(
                "infer-g1",
                Cause.NO_NEW_LOANS,
                "no further GPU is lent: the request rates of chat are 50 s old (limit: 45 s, 3 windows of 15 s)");
        assertIsNotLent("infer-g1");

        story.rate("chat", 1);

        assertIsLent("infer-g1");
    }

    @Test
    void afterReclaimAllNothingIsLentUntilAThaw() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).control(ControlCommand.Kind.RECLAIM_ALL);

        assertReview(
                "infer-g1",
                Cause.NO_NEW_LOANS,
                "no further GPU is lent: an operator ordered all loans back; 'lendstream thaw' allows loans again");

        story.control(ControlCommand.Kind.THAW);

        assertIsLent("infer-g1");
    }

    @Test
    void ofIdleGpusOnlyAShareIsLentAndTheOthersAreReserve() {
        with("max-share-lent", "0.5");
        cluster();
        rigidJobs(5);

        assertIsLent("infer-g2");
        assertReview(
                "infer-g3",
                Cause.RESERVE,
                "it is kept as reserve: scheduler.max-share-lent is 0.5: of 4 GPUs of inference on reachable nodes, at most 2"
                        + " may be lent at a time, and 0 are; raise the setting to lend more");
        assertIsNotLent("infer-g3");
        assertIsLent(scheduler(Map.of("max-share-lent", "0.75")), "infer-g3");
    }

    @Test
    void aLimitOnLoansNamesItsSettingAndTheWayOut() {
        with("max-loans-per-minute", "0");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);

        List<String> vetoed = LendingReview.of(scheduler, story.state(), story.now()).inference().stream()
                .filter(review -> review.cause() == Cause.LIMIT)
                .map(UnitReview::reason)
                .toList();

        assertThat(vetoed)
                .singleElement()
                .satisfies(reason -> assertThat(reason)
                        .matches(
                                "the plan gives it to [ab], which does not get it: 1 new loan would begin, but only 0 may begin now:"
                                        + " scheduler.max-loans-per-minute is 0 \\(1 min between plans\\); wait for the next"
                                        + " plan, or raise it"));
        assertIsLent(scheduler(Map.of("max-loans-per-minute", "1")), "infer-g1");
    }

    @Test
    void aLimitOnTransfersSaysWhatIsOnTheWay() {
        with("max-transfers", "1");
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).rigidJob("c", 1);
        nextPlan();

        List<String> vetoed = LendingReview.of(scheduler, story.state(), story.now()).inference().stream()
                .filter(review -> review.cause() == Cause.LIMIT)
                .map(UnitReview::reason)
                .toList();

        assertThat(vetoed)
                .singleElement()
                .satisfies(reason -> assertThat(reason)
                        .endsWith(
                                "1 new loan would begin, but only 0 may begin now: scheduler.max-transfers is 1, and 1 GPU is in"
                                        + " transfer; wait until transfers end, or raise it"));
    }

    @Test
    void adviceIsDistinguishedFromDecisions() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).control(ControlCommand.Kind.ADVISORY_ON);

        UnitReview review = review("infer-g1");

        assertThat(review.cause()).isEqualTo(Cause.ADVICE);
        assertThat(review.reason())
                .startsWith(
                        "decisions are only advice, until 'lendstream approve' or 'lendstream advisory off' puts them in force: "
                                + "b starts on 1 GPU: ");

        story.control(ControlCommand.Kind.ADVISORY_OFF);

        assertIsLent("infer-g1");
    }

    @Test
    void adviceThatStandsIsNamedByItsId() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1).control(ControlCommand.Kind.ADVISORY_ON);
        nextPlan();
        Decision advice = story.decisions().stream()
                .filter(decision -> decision.action().gpus().contains(new GpuId("infer-g1")))
                .findFirst()
                .orElseThrow();

        assertThat(advice.advisory()).isTrue();
        assertThat(review("infer-g1").reason())
                .startsWith("decisions are only advice, until 'lendstream approve %s' or".formatted(advice.id()));
    }

    @Test
    void aBacklogIsWorkedThroughFirst() {
        cluster();
        story.rigidJob("a", 1).rigidJob("b", 1);
        Scheduler behind = scheduler.decidingFrom(Optional.of(story.now().plusSeconds(30)));

        assertThat(review(behind, "infer-g1").cause()).isEqualTo(Cause.NO_PLAN);
        assertThat(review(behind, "infer-g1").reason())
                .startsWith("no training plan is made: the scheduler took over a backlog");
    }

    @Test
    void instancesCountTowardsTheShare() {
        with("max-share-lent", "0.2");
        story.migNode("cut", Pool.INFERENCE, "3g.40gb@0 1g.10gb@4")
                .service("chat", 0)
                .rate("chat", 0)
                .smallJob("small", 1, 20);

        UnitReview review = review("cut-g0/0:4");

        assertThat(review.reason())
                .startsWith("scheduler.max-share-lent is 0.2: 0.12 inference GPUs may still be lent");
    }
}
