package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.MembershipFixture.json;
import static io.lendstream.actuator.jobs.MembershipFixture.training;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the node process says to workers, and when, while a job starts, grows, shrinks and finishes. */
class MembershipTest {
    @Test
    void aJobStartsWithAllItsWorkersOnceNoneIsStartingAnyMore() {
        var job = new MembershipFixture("0,1").start("a", "0", 1).start("b", "1", 1);
        assertThat(job.ready("a").advance().asked()).isEmpty();
        assertThat(job.membership().isIdle()).isTrue();

        assertThat(job.ready("b").advance().asked())
                .containsExactly(
                        "store 1",
                        "save 1 [], then START [a, b]",
                        "a lives",
                        "a < prepare 1 start 0/2",
                        "b lives",
                        "b < prepare 1 start 1/2");
        assertThat(job.prepared("a", 1).prepared("b", 1).passes("a", 1, -1).asked())
                .as("no worker trained before, so none has to agree")
                .isEmpty();
        assertThat(job.passes("b", 1, -1).asked())
                .containsExactly("a lives", "b lives", "save 1 [a, b]", "bound gpu0+gpu1");
    }

    @Test
    void theMessagesAreThoseOfTheProtocol() {
        var job = new MembershipFixture("0,1").start("a", "0", 1).start("b", "1", 1);
        job.ready("a").ready("b").advance();

        assertThat(job.messagesTo("b"))
                .containsExactly(json("{'type': 'prepare', 'epoch': 1, 'kind': 'start', 'rank': 1, 'size': 2,"
                        + " 'newcomers': [], 'transfers': [[0, 1]],"
                        + " 'batching': {'localBatch': 8, 'accumulation': 1, 'learningRateScale': 1.0}}"));
    }

    @Test
    void whoTrainsGoesOnUntilAllNewcomersHaveBuiltTheirGroup() {
        var job = training("0,1").resize("0,1,2", 2).start("c", "2", 2);
        assertThat(job.advance().asked()).as("the newcomer is starting").isEmpty();

        assertThat(job.ready("c").advance().asked())
                .containsExactly(
                        "store 2",
                        "save 2 [a, b]",
                        "a lives",
                        "a < prepare 2 change 0/3",
                        "b lives",
                        "b < prepare 2 change 1/3",
                        "c lives",
                        "c < prepare 2 change 2/3");
        assertThat(job.prepared("a", 2).prepared("b", 2).advance().asked()).isEmpty();
        assertThat(job.prepared("c", 2).asked())
                .containsExactly(
                        "save 2 [a, b], then CHANGE [a, b, c]", "a < commit 2", "b < commit 2", "c < commit 2");
        assertThat(job.passes("a", 2, 7).passes("c", 2, -1).advance().asked()).isEmpty();
        assertThat(job.passes("b", 2, 7).asked())
                .containsExactly(
                        "a lives", "b lives", "c lives", "save 2 [a, b, c]", "a < done 2", "b < done 2", "bound gpu2");
        assertThat(job.messagesTo("c").get(0))
                .isEqualTo(json("{'type': 'prepare', 'epoch': 2, 'kind': 'change', 'rank': 2, 'size': 3,"
                        + " 'newcomers': [2], 'transfers': [[0, 2]],"
                        + " 'batching': {'localBatch': 8, 'accumulation': 1, 'learningRateScale': 1.0}}"));
    }

    @Test
    void aChangeIsCompleteWhenAllTakeSamplesAndTheLongestPauseCounts() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.prepared("a", 2).prepared("b", 2).prepared("c", 2);
        job.passes("a", 2, 7).passes("b", 2, 7).passes("c", 2, -1).asked();

        job.hears("a", "{'type': 'resumed', 'epoch': 2, 'nanos': 3000000000, 'lastNanos': 0, 'medianSeconds': 1}");
        job.hears("b", "{'type': 'resumed', 'epoch': 2, 'nanos': 2500000000, 'lastNanos': 0, 'medianSeconds': 1}");
        job.hears("c", "{'type': 'resumed', 'epoch': 2, 'nanos': 9000000000}");
        assertThat(job.full("a", 2, 104).full("b", 2, 103).advance().asked())
                .as("one has not reported")
                .isEmpty();

        assertThat(job.full("c", 2, 103).asked()).containsExactly("settle after PT4S, pause PT2S");
    }

    @Test
    void whoOnlyShrinksAgreesAtOnceAndWhoLeavesGoesWhenAllHavePassed() {
        var job = training("0,1,2").resize("0,2", 2);

        assertThat(job.advance().asked())
                .containsExactly(
                        "store 2",
                        "save 2 [a, b, c]",
                        "a lives",
                        "a < prepare 2 change 0/2",
                        "c lives",
                        "c < prepare 2 change 1/2",
                        "save 2 [a, b, c], then CHANGE [a, c]",
                        "a < commit 2",
                        "b < commit 2 leave",
                        "c < commit 2");
        assertThat(job.passes("b", 2, 9).passes("a", 2, 9).asked()).isEmpty();
        assertThat(job.passes("c", 2, 9).asked())
                .containsExactly(
                        "a lives",
                        "c lives",
                        "save 2 [a, c]",
                        "a < done 2",
                        "b ends by 110 s",
                        "b < done 2",
                        "c < done 2",
                        "bound ");
        assertThat(job.membership().isFailure("b")).isFalse();
        assertThat(job.gone("b").advance().asked()).isEmpty();
    }

    @Test
    void aWorkerThatLeavesAndEndsBeforeTheOthersHavePassedIsNotWaitedFor() {
        var job = training("0,1").resize("0", 2).advance();
        job.passes("b", 2, 9).asked();

        assertThat(job.gone("b").advance().asked()).isEmpty();

        assertThat(job.passes("a", 2, 9).asked()).containsExactly("a lives", "save 2 [a]", "a < done 2", "bound ");
    }

    @Test
    void aStopLeavesWithACheckpointAndTheJobIsIdleWhenAllAreGone() {
        var job = training("0,1").resize("-", 2);

        assertThat(job.advance().asked())
                .contains("a < commit 2 leave with checkpoint", "b < commit 2 leave with checkpoint");
        assertThat(job.membership().isDispensable("a")).isFalse();
        job.passes("a", 2, 4).passes("b", 2, 4).gone("a").gone("b");

        assertThat(job.membership().isIdle()).isTrue();
        assertThat(job.state().members()).isEmpty();
    }

    @Test
    void aMoveGrowsBeforeItShrinks() {
        var job = training("0").resize("1", 2).start("b", "1", 2);
        assertThat(job.advance().asked())
                .as("the old worker waits for the newcomer")
                .isEmpty();

        assertThat(job.ready("b").advance().asked()).contains("a < prepare 2 change 0/2", "b < prepare 2 change 1/2");
        job.prepared("a", 2)
                .prepared("b", 2)
                .passes("a", 2, 5)
                .passes("b", 2, -1)
                .asked();

        assertThat(job.advance().asked()).contains("b < prepare 3 change 0/1", "a < commit 3 leave", "b < commit 3");
    }

    @Test
    void aShrinkDoesNotWaitForNewcomersOfAnotherChange() {
        var job = training("0,1").resize("0,1,2", 2).start("c", "2", 2).resize("0,2", 3);

        assertThat(job.advance().asked()).contains("a < commit 2", "b < commit 2 leave");
    }

    @Test
    void anotherBatchIsAnEpochOfItsOwnAndIsUsedOnlyByTheWholeGroup() {
        var batching = new Batching(4, 2, 0.5);
        var job = training("0").resize("0,1", batching, 2);

        assertThat(job.advance().asked()).as("the group is not whole").isEmpty();
        job.start("b", "1", 2).ready("b").advance();

        assertThat(job.messagesTo("b").get(0).path("batching"))
                .isEqualTo(json("{'localBatch': 4, 'accumulation': 2, 'learningRateScale': 0.5}"));
        assertThat(job.state().applied()).isEqualTo(MembershipFixture.BATCHING);
        job.prepared("a", 2).prepared("b", 2).passes("a", 2, 1).passes("b", 2, -1);
        assertThat(job.state().applied()).isEqualTo(batching);
    }

    @Test
    void theNextChangeWaitsUntilTheGroupOfTheLastIsBuilt() {
        var job = training("0,1").resize("0", 2).advance();
        job.passes("a", 2, 3).passes("b", 2, 3).gone("b").release("1").asked();

        assertThat(job.resize("-", 3).advance().asked())
                .as("it would end the store that the worker builds with")
                .isEmpty();

        assertThat(job.prepared("a", 2).advance().asked()).contains("a < commit 3 leave with checkpoint");
    }

    @Test
    void aNewcomerThatCannotBuildItsGroupIsTriedAgainAndKilledTheFifthTime() {
        var job = training("0").resize("0,1", 2).start("b", "1", 2).ready("b").advance();
        for (int epoch = 2; epoch < 6; epoch++) {
            job.asked();
            assertThat(job.unprepared("b", epoch).asked()).containsExactly("no store");
            assertThat(job.advance().asked()).contains("store %d".formatted(epoch + 1));
        }

        assertThat(job.unprepared("b", 6).asked()).containsExactly("kill b", "no store");
        assertThat(job.state().members()).containsExactly("a");
    }

    @Test
    void aMemberThatCannotBuildAGroupWithANewcomerTrainsOnAndTheNewcomerIsKilled() {
        var job = training("0").resize("0,1", 2).start("b", "1", 2).ready("b").advance();
        for (int epoch = 2; epoch < 6; epoch++) {
            job.asked();
            assertThat(job.unprepared("a", epoch).asked()).containsExactly("no store");
            job.advance();
        }
        job.asked();

        assertThat(job.unprepared("a", 6).asked()).containsExactly("kill b", "no store");
        assertThat(job.unprepared("b", 6).asked()).as("the same group").isEmpty();
        assertThat(job.gone("b").resize("0", 3).advance().asked()).containsExactly("settle after PT0S");
        assertThat(job.state().members()).containsExactly("a");
    }

    @Test
    void aGroupThatIsBuiltEndsTheCountOfThoseThatWereNot() {
        var job = training("0").resize("0,1", 2).start("b", "1", 2).ready("b").advance();
        for (int epoch = 2; epoch < 6; epoch++) {
            job.unprepared("b", epoch).advance();
        }
        job.prepared("b", 6).asked();

        assertThat(job.unprepared("b", 6).asked()).containsExactly("no store");
    }

    @Test
    void messagesOfOtherEpochsChangeNothing() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.asked();

        job.prepared("a", 1).prepared("b", 1).prepared("c", 1).prepared("c", 3);
        job.passes("a", 1, 4).passes("b", 1, 4).passes("c", 3, 4);
        job.unprepared("a", 1).unprepared("a", 3);
        job.full("a", 1, 105).full("b", 1, 105).full("c", 1, 105);
        job.hears("a", "{'type': 'praise', 'epoch': 2}");

        assertThat(job.advance().asked()).isEmpty();
        assertThat(job.state().members()).containsExactly("a", "b");
    }

    @Test
    void aNewcomerThatIsLostBeforeTheOthersAgreedIsLeftOut() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.prepared("a", 2).asked();
        assertThat(job.membership().isFailure("c")).isTrue();
        assertThat(job.membership().isDispensable("c")).isTrue();

        assertThat(job.gone("c").asked()).containsExactly("no store");

        assertThat(job.advance().asked()).as("training goes on").isEmpty();
        assertThat(job.state())
                .isEqualTo(new MembershipState(MembershipFixture.BATCHING, 2, List.of("a", "b"), Optional.empty()));
    }

    @Test
    void whoIsAboutToJoinIsDispensableUntilTheOthersAgreed() {
        var job = training("0").resize("0,1", 2).start("b", "1", 2);
        assertThat(job.membership().isDispensable("b")).isTrue();
        job.ready("b").advance();
        assertThat(job.membership().isDispensable("b")).isTrue();

        job.prepared("a", 2).prepared("b", 2);

        assertThat(job.membership().isDispensable("b")).isFalse();
    }

    @Test
    void aJobThatFinishesTakesWhoWasAboutToJoinWithIt() {
        var job = training("0,1").resize("0,1,2", 2).start("c", "2", 2);

        assertThat(job.bye("a").asked()).containsExactly("kill c");
        assertThat(job.membership().isFinished()).isTrue();
        assertThat(job.bye("b").asked()).containsExactly("kill c", "a < farewell 1", "b < farewell 1");
        assertThat(job.membership().isFailure("b")).isFalse();
        assertThat(job.gone("a").gone("b").gone("c").advance().asked()).isEmpty();
        assertThat(job.membership().isIdle()).isTrue();
    }

    @Test
    void aJobThatFinishesWhileAGroupIsBuiltEndsWithoutThatGroup() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.asked();

        assertThat(job.bye("a").bye("b").asked())
                .containsExactly("kill c", "kill c", "a < farewell 2", "b < farewell 2");
        assertThat(job.gone("c").gone("b").gone("a").asked()).isEmpty();

        assertThat(job.canAdvance()).isTrue();
        assertThat(job.membership().isIdle()).isTrue();
    }

    @Test
    void aRankThatIsLostInTheLastStepIsNotRecovered() {
        var job = training("0,1").bye("a");
        job.asked();

        assertThat(job.broken("b", 1, 8).asked()).containsExactly("b ends by 110 s", "b < leave 1");
        assertThat(job.gone("b").advance().asked()).containsExactly("a < farewell 1");
    }

    @Test
    void whoHasFinishedDoesNotWaitForARankThatDiesInTheLastStep() {
        var job = training("0,1").bye("a");
        job.asked();

        assertThat(job.gone("b").advance().asked()).containsExactly("a < farewell 1");
        assertThat(job.gone("a").advance().asked()).isEmpty();
    }

    @Test
    void aWorkerThatWasNotAddedIsABug() {
        assertThatThrownBy(() -> training("0").ready("z"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("job %s has no worker z", ExampleJob.ID);
    }

    @Test
    void aChangeThatNeedsNothingIsCompleteAtOnce() {
        var job = training("0,1").afterSeconds(5).resize("1,0", 2).afterSeconds(1);

        assertThat(job.advance().asked()).containsExactly("settle after PT1S");
        assertThat(job.state().members()).containsExactly("a", "b");
    }
}
