package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.MembershipFixture.json;
import static io.lendstream.actuator.jobs.MembershipFixture.training;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How a job goes on when a worker is lost. */
class GroupRecoveryTest {
    @Test
    void theGroupIsBrokenAtOnceAndBuiltAroundTheWorkerThatIsFurthest() {
        var job = training("0,1,2").afterSeconds(5);
        assertThat(job.membership().isFailure("a")).isTrue();

        assertThat(job.gone("a").asked()).containsExactly("no store", "save 1 [b, c]", "b < abort 1", "c < abort 1");
        assertThat(job.broken("b", 1, 6).aborted("b", 1, "training").advance().asked())
                .as("one has not said where it is")
                .isEmpty();
        assertThat(job.broken("c", 1, 7).advance().asked())
                .containsExactly(
                        "store 2",
                        "save 2 [], then RECOVER [c, b]",
                        "c lives",
                        "c < prepare 2 recover 0/2",
                        "b lives",
                        "b < prepare 2 recover 1/2");
        assertThat(job.messagesTo("b").stream().reduce((first, last) -> last)).hasValueSatisfying(prepare -> {
            assertThat(prepare.path("transfers"))
                    .as("the state comes from the furthest")
                    .isEqualTo(json("{'pairs': [[0, 1]]}").path("pairs"));
            assertThat(prepare.path("newcomers")).isEmpty();
        });
        job.prepared("b", 2).prepared("c", 2).passes("c", 2, 7);
        assertThat(job.passes("b", 2, 7).asked())
                .as("their slots were reported bound before")
                .containsExactly("c lives", "b lives", "save 2 [c, b]", "bound ");
        assertThat(job.full("b", 2, 107).full("c", 2, 108).asked())
                .containsExactly("recovered without gpu0 after PT3S");

        job.resize("1", 2).advance().passes("c", 3, 9).passes("b", 3, 9).asked();
        assertThat(job.full("b", 3, 109).asked())
                .as("the loss was reported before")
                .containsExactly("settle after PT4S");
    }

    @Test
    void aSlotThatWasLostGetsANewWorkerWhichJoinsTheOthers() {
        var job = training("0,1").gone("b").broken("a", 1, 3).advance();
        job.prepared("a", 2).passes("a", 2, 3).asked();
        assertThat(job.membership().lostNanos()).isEqualTo(100_000_000_000L);

        job.start("c", "1", 1).ready("c").advance();

        assertThat(job.asked()).contains("a < prepare 3 change 0/2", "c < prepare 3 change 1/2");
    }

    @Test
    void aSecondLossWhileTheFirstIsRecoveredBeginsAgainWithThoseThatAreLeft() {
        var job = training("0,1,2").gone("a").broken("b", 1, 6);
        job.asked();

        assertThat(job.gone("c").asked()).containsExactly("no store", "save 1 [b]", "b < abort 1");
        assertThat(job.advance().asked()).contains("b < prepare 2 recover 0/1");
        job.prepared("b", 2).passes("b", 2, 6).asked();
        assertThat(job.full("b", 2, 103).asked()).containsExactly("recovered without gpu0+gpu2 after PT3S");
    }

    @Test
    void aLossWhileTheNextGroupIsBuiltBreaksThatGroupToo() {
        var job =
                training("0,1,2").gone("a").broken("b", 1, 6).broken("c", 1, 6).advance();
        job.asked();

        assertThat(job.gone("c").asked()).containsExactly("no store", "save 2 []", "b < abort 2");
    }

    @Test
    void theLossOfANewcomerAfterTheOthersAgreedBreaksTheGroup() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.prepared("a", 2).prepared("b", 2).prepared("c", 2).asked();

        assertThat(job.gone("c").asked()).containsExactly("no store", "save 2 [a, b]", "a < abort 2", "b < abort 2");
        assertThat(job.broken("a", 1, 4).broken("b", 1, 4).advance().asked())
                .contains("a < prepare 3 recover 0/2", "b < prepare 3 recover 1/2");
    }

    @Test
    void aNewcomerWhoseFirstGroupWasBrokenIsRecoveredAfterASecondLossToo() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.prepared("a", 2)
                .prepared("b", 2)
                .prepared("c", 2)
                .passes("c", 2, -1)
                .gone("b");
        job.gone("a").asked();

        assertThat(job.broken("c", 2, -1).advance().asked())
                .as("it has no whole state")
                .contains("kill c");
    }

    @Test
    void aNewcomerThatIsLostInARecoveryIsNotWaitedFor() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.prepared("a", 2).prepared("b", 2).prepared("c", 2).gone("b").broken("a", 2, 4);
        assertThat(job.advance().asked()).as("one has not reported").doesNotContain("store 3");

        assertThat(job.gone("c").advance().asked()).contains("a < prepare 3 recover 0/1");
    }

    @Test
    void aNewcomerThatHadASeatAndHasNoneIsReadyAgain() {
        var job =
                training("0,1").resize("0,1,2", 2).start("c", "2", 2).ready("c").advance();
        job.prepared("a", 2).prepared("b", 2).prepared("c", 2).gone("b").asked();

        job.aborted("c", 2, "ready").broken("a", 1, 4).advance();

        assertThat(job.asked()).contains("a < prepare 3 recover 0/1");
        job.prepared("a", 3).passes("a", 3, 4).asked();
        assertThat(job.advance().asked()).contains("c < prepare 4 change 1/2");
    }

    @Test
    void aWorkerThatWasLeavingWhenTheGroupBrokeIsDismissed() {
        var job = training("0,1,2").resize("0,1", 2).advance();
        job.passes("c", 2, 5).asked();

        assertThat(job.gone("b").asked())
                .as("it has passed already")
                .containsExactly("c ends by 110 s", "c < leave 2", "no store", "save 2 [a, c]", "a < abort 2");

        var other = training("0,1,2").resize("0,1", 2).advance().gone("b");
        other.asked();
        assertThat(other.aborted("c", 2, "leaving").asked())
                .as("it passes just now")
                .containsExactly("c ends by 110 s", "c < leave 2");
        assertThat(other.state().members()).containsExactly("a");
    }

    @Test
    void whoIsToLeaveIsDismissedInARecoveryUnlessOnlyItIsFurthest() {
        var job = training("0,1,2").resize("0,1", 2).gone("a").broken("b", 1, 6).broken("c", 1, 6);
        job.asked();
        assertThat(job.advance().asked()).contains("c ends by 110 s", "c < leave 1", "b < prepare 2 recover 0/1");

        var other =
                training("0,1,2").resize("0,1", 2).gone("a").broken("b", 1, 5).broken("c", 1, 6);
        other.asked();
        assertThat(other.advance().asked())
                .contains("c < prepare 2 recover 0/2", "b < prepare 2 recover 1/2")
                .doesNotContain("c < leave 1");
    }

    @Test
    void withoutAWholeStateAllBeginAgainFromTheCheckpoint() {
        var job = training("0,1").gone("a");
        job.asked();

        assertThat(job.broken("b", 1, -1).advance().asked()).containsExactly("kill b", "save 1 []");

        assertThat(job.membership().isFailure("b")).isTrue();
        assertThat(job.gone("b").advance().asked()).isEmpty();
        assertThat(job.membership().isIdle()).isTrue();
        job.start("c", "0", 1).start("d", "1", 1).ready("c").ready("d");
        assertThat(job.advance().asked()).contains("c < prepare 2 start 0/2");
    }

    @Test
    void aWorkerThatLosesItsGroupByItselfBreaksItForAll() {
        var job = training("0,1");

        assertThat(job.broken("b", 1, 4).asked())
                .containsExactly("no store", "save 1 [a, b]", "a < abort 1", "b < abort 1");
        assertThat(job.broken("a", 1, 4).advance().asked())
                .as("of the group that is broken already")
                .contains("a < prepare 2 recover 0/2", "b < prepare 2 recover 1/2");
    }

    @Test
    void aLateMessageOfABrokenGroupBreaksNoOther() {
        var job = training("0,1").gone("b").broken("a", 1, 4).advance();
        job.asked();

        assertThat(job.broken("a", 1, 4).advance().asked()).isEmpty();
    }

    @Test
    void aFirstGroupThatCannotBeBuiltIsBegunAgain() {
        var job = new MembershipFixture("0,1").start("a", "0", 1).start("b", "1", 1);
        job.ready("a").ready("b").advance().asked();

        assertThat(job.unprepared("a", 1).asked())
                .containsExactly("no store", "save 1 []", "a < abort 1", "b < abort 1");
        assertThat(job.aborted("a", 1, "ready").advance().asked()).isEmpty();
        assertThat(job.aborted("b", 1, "ready").asked()).isEmpty();
        assertThat(job.advance().asked()).contains("a < prepare 2 start 0/2", "b < prepare 2 start 1/2");
    }

    @Test
    void whoEndsBecauseItsSlotWasTakenHasNotFailed() {
        var job = training("0,1").resize("0", 2);

        assertThat(job.membership().isFailure("b")).isFalse();
        assertThat(job.membership().isFailure("a")).isTrue();
    }
}
