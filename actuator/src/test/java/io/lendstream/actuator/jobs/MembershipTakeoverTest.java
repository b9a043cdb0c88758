package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How a node process goes on with workers of another that was killed. */
class MembershipTakeoverTest {
    /** Workers {@code a}, {@code b}, {@code c} in slots 0, 1, 2, of whom {@code members} train in {@code epoch}. */
    private static MembershipFixture left(long epoch, List<String> members, JobFile.Pending pending) {
        List<JobFile.WantedSlot> wanted = IntStream.range(0, 3)
                .mapToObj(slot -> new JobFile.WantedSlot("gpu" + slot, "" + slot, "test/1/1", true))
                .toList();
        var program = new JobFile.Program(JobProgram.Mode.AFE, List.of("train"), List.of(), Map.of(), "/", 3, 0);
        var file = new JobFile(
                "example",
                program,
                wanted,
                MembershipFixture.BATCHING,
                MembershipFixture.BATCHING,
                new JobFile.LastChange("test/1/1", 0, true, false),
                List.of(),
                List.of(),
                new JobFile.Membership(epoch, members, pending),
                null);
        return new MembershipFixture("0,1,2")
                .start("a", "0", 1)
                .start("b", "1", 1)
                .start("c", "2", 1)
                .adopt(file);
    }

    private static JobFile.Pending change(String... members) {
        return new JobFile.Pending(2, "CHANGE", List.of(members), true);
    }

    @Test
    void whoTrainsGoesOnWhenAllHaveReportedBack() {
        var job = left(1, List.of("a", "b", "c"), null);
        assertThat(job.asked()).containsExactlyInAnyOrder("a ends by 110 s", "b ends by 110 s", "c ends by 110 s");

        assertThat(job.hello("a", "training", 1, 1, List.of(), 8).asked()).containsExactly("a lives");
        assertThat(job.hello("b", "training", 1, 1, List.of(), 8).asked()).containsExactly("b lives");
        assertThat(job.membership().isDispensable("c")).as("it may be training").isFalse();
        assertThat(job.advance().asked()).as("one is absent").isEmpty();
        assertThat(job.hello("c", "training", 1, 1, List.of(), 8).advance().asked())
                .containsExactly("c lives");
        assertThat(job.state().members()).containsExactly("a", "b", "c");
    }

    @Test
    void aWorkerThatDoesNotReportBackIsLost() {
        var job = left(1, List.of("a", "b", "c"), null);
        job.hello("a", "training", 1, 1, List.of(), 8).hello("b", "training", 1, 1, List.of(), 8);
        job.asked();

        assertThat(job.gone("c").asked()).containsExactly("no store", "save 1 [a, b]", "a < abort 1", "b < abort 1");
    }

    @Test
    void aWorkerOfTheGroupThatTheNodeProcessDidNotFindBreaksIt() {
        var job = left(1, List.of("a", "x"), null).hello("a", "training", 1, 1, List.of(), 8);
        job.asked();

        assertThat(job.advance().asked()).containsExactly("no store", "save 1 [a]", "a < abort 1");
    }

    @Test
    void aWorkerWithoutItsGroupBreaksItForAll() {
        var broken = left(1, List.of("a", "b"), null);
        broken.hello("a", "training", 1, 1, List.of(), 8).hello("b", "broken", 0, 1, List.of(), 8);
        broken.asked();
        assertThat(broken.advance().asked()).contains("a < abort 1", "b < abort 1");

        var seatless = left(1, List.of("a", "b"), null);
        seatless.hello("a", "training", 1, 1, List.of(), 8).hello("b", "training", 0, 1, List.of(), 8);
        seatless.asked();
        assertThat(seatless.advance().asked()).contains("a < abort 1", "b < abort 1");

        var waiting = left(1, List.of("a", "b"), null);
        waiting.hello("a", "training", 1, 1, List.of(), 8).hello("b", "training", 0, 1, List.of(1L), 8);
        waiting.asked();
        assertThat(waiting.advance().asked())
                .as("its group is built, and it takes it now")
                .isEmpty();
    }

    @Test
    void aChangeOnWhichAllHadAgreedGoesOn() {
        var job = left(2, List.of("a", "b"), change("a", "b", "c"));
        assertThat(job.membership().isDispensable("c"))
                .as("it may have a seat by now")
                .isFalse();
        job.hello("a", "training", 1, 1, List.of(2L), 8).hello("b", "training", 1, 1, List.of(2L), 8);
        job.hello("c", "ready", 0, 0, List.of(2L), -1).asked();
        assertThat(job.state().pending()).as("for another node process").contains(change("a", "b", "c"));

        assertThat(job.advance().asked()).containsExactly("a < commit 2", "b < commit 2", "c < commit 2");
        job.passes("a", 2, 9).passes("b", 2, 9).passes("c", 2, -1);
        assertThat(job.asked()).contains("save 2 [a, b, c]", "a < done 2", "b < done 2", "bound gpu2");
    }

    @Test
    void whoHasPassedMeanwhileIsNotToldAgain() {
        var job = left(2, List.of("a", "b", "c"), change("a", "b"));
        job.hello("a", "training", 2, 2, List.of(), 9).hello("b", "training", 1, 1, List.of(2L), 8);
        assertThat(job.hello("c", "leaving", 0, 2, List.of(), 9).asked())
                .as("it leaves when all have passed")
                .doesNotContain("c < leave 2");

        assertThat(job.advance().asked()).containsExactly("b < commit 2");
        assertThat(job.passes("b", 2, 9).asked())
                .containsExactly(
                        "a lives",
                        "b lives",
                        "save 2 [a, b]",
                        "a < done 2",
                        "b < done 2",
                        "c ends by 110 s",
                        "c < done 2",
                        "bound ");
    }

    @Test
    void aChangeThatAllHavePassedIsCompleteAtOnce() {
        var job = left(2, List.of("a", "b", "c"), change("a", "b"));
        job.hello("a", "training", 2, 2, List.of(), 9).hello("b", "training", 2, 2, List.of(), 9);
        job.hello("c", "leaving", 0, 2, List.of(), 9).asked();

        assertThat(job.advance().asked()).contains("save 2 [a, b]", "a < done 2", "c < done 2");
        assertThat(job.state().pending()).isEmpty();
        assertThat(job.gone("c").resize("-", 3).advance().asked())
                .as("their groups are built, so the next change need not wait")
                .contains("a < commit 3 leave with checkpoint");
    }

    @Test
    void aGroupThatWasBeingBuiltIsBrokenBecauseItsStoreIsGone() {
        var job = left(2, List.of("a", "b"), change("a", "b", "c"));
        job.hello("a", "training", 1, 1, List.of(2L), 8).hello("b", "training", 1, 1, List.of(), 8);
        job.hello("c", "ready", 0, 0, List.of(2L), -1).asked();

        assertThat(job.advance().asked())
                .containsExactly(
                        "a < commit 2", "no store", "save 2 [a, b]", "a < abort 2", "b < abort 2", "c < abort 2");
    }

    @Test
    void anUnfinishedRecoveryBeginsAgain() {
        var job = left(2, List.of(), new JobFile.Pending(2, "RECOVER", List.of("a", "b"), false));
        job.hello("a", "broken", 0, 1, List.of(), 8).hello("b", "broken", 0, 1, List.of(), 8);
        job.asked();

        assertThat(job.advance().asked())
                .contains("a < abort 2", "b < abort 2", "a < prepare 3 recover 0/2", "b < prepare 3 recover 1/2");
    }

    @Test
    void whoWasLeavingAndHasNothingToWaitForIsDismissed() {
        var job = left(1, List.of("a"), null);
        job.asked();

        assertThat(job.hello("b", "leaving", 0, 1, List.of(), 8).asked())
                .containsExactly("b lives", "b ends by 110 s", "b < leave 1");
    }
}
