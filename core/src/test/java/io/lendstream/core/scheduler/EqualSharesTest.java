package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.id.Pool;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where present needs exceed the GPUs, services share them. */
class EqualSharesTest extends WaitingStory {
    @Test
    void servicesGetTheirEqualShareWhereNeedsExceedThePool() {
        load("embed", 12, 12).load("chat", 0, 0).windows(6);
        assertThat(serving("embed")).isEqualTo(4);

        load("chat", 8, 8).windows(4);

        assertThat(serving("embed")).isEqualTo(2);
        assertThat(serving("chat")).isEqualTo(2);
        Decision stop = stops().get(0);
        assertThat(stop.reason().text())
                .startsWith(
                        "embed stops 2 replicas for requests of chat that wait, and keeps its equal share of 2, because"
                                + " 2 services need 20 replicas now, and there are 4 GPUs for them; chat is short of 8 replicas");
        assertThat(stop.reason().numbers())
                .containsEntry("neededByAll", 20.0)
                .containsEntry("gpusForAll", 4.0)
                .containsEntry("equalShare", 2.0)
                .containsEntry("services", 2.0);
    }

    @Test
    void aHoldSaysOnceThatNeedsExceedThePool() {
        load("embed", 4, 4).load("chat", 0, 0).windows(6);

        load("chat", 4, 4).windows(10);

        List<Decision> holds = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Hold)
                .filter(decision -> decision.reason().is(ReasonCode.WAITING))
                .toList();
        assertThat(holds)
                .singleElement()
                .satisfies(hold -> assertThat(hold.reason().text())
                        .isEqualTo(
                                "2 services need 8 replicas now, and there are 4 GPUs for them. Each gets its equal share of 2"
                                        + " first, then the one that misses the greatest share of its need; chat is short of 4 replicas"
                                        + " (4 needed for the current load, 0 running)"));
    }

    @Test
    void aFloorIsKeptWhereNeedsExceedThePool() {
        story.service("embed", 3).settled();
        load("embed", 12, 12).load("chat", 0, 0).windows(6);

        load("chat", 8, 8).windows(6);

        assertThat(serving("embed")).as("its floor, above its equal share").isEqualTo(3);
        assertThat(serving("chat")).isEqualTo(1);
        assertThat(stops().stream()
                        .mapToInt(stop -> stop.action().gpus().size())
                        .sum())
                .isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aSmallNeedIsServedInFullBesideAGreatOne() {
        load("embed", 16, 16).load("chat", 0, 0).windows(6);

        load("chat", 1, 1).windows(4);

        assertThat(serving("chat")).isEqualTo(1);
        assertThat(serving("embed")).isEqualTo(3);
    }

    @Test
    void beyondEqualSharesFreeGpusGoToTheGreatestShareMissed() {
        story = begun("lendstream", ON, 0).service("third", 0).settled();
        load("chat", 4, 4).load("embed", 16, 16).load("third", 3, 3);
        windows(1);

        story.node("more", Pool.INFERENCE, 10).settled();

        assertThat(serving("chat")).as("equal share of 3").isEqualTo(3);
        assertThat(serving("third")).isEqualTo(3);
        assertThat(serving("embed"))
                .as("one more: it misses 13 of 16, chat 1 of 4")
                .isEqualTo(4);
    }

    @Test
    void aServiceWhoseRatesAreOldKeepsItsReplicas() {
        embedHoldsAll();
        load.remove("embed");

        load("chat", 0, 0).windows(3);
        load("chat", 2, 2).windows(1);

        assertThat(stops()).as("the last rate of embed is 60 s old").isEmpty();
        assertThat(serving("embed")).isEqualTo(4);
    }

    @Test
    void floorsAreNoPartOfWhatOthersShare() {
        story = begun("lendstream", ON, 12);
        story.service("floored", 8).service("first", 0).service("second", 0).settled();
        load("floored", 2, 2).load("first", 10, 10).load("second", 0, 0).windows(6);
        assertThat(serving("first")).isEqualTo(4);

        load("second", 10, 10).windows(10);

        assertThat(serving("floored")).isEqualTo(8);
        assertThat(serving("first")).isEqualTo(2);
        assertThat(serving("second")).isEqualTo(2);
    }

    @Test
    void whatAServiceWithLateRatesKeepsIsNoPartOfWhatOthersShare() {
        story = begun("lendstream", ON, 12);
        story.service("silent", 0).service("first", 0).service("second", 0).settled();
        load("silent", 8, 8).load("first", 0, 0).load("second", 0, 0).windows(6);
        load.remove("silent");
        load("first", 4, 4).windows(6);
        load("first", 10, 10).windows(6);
        assertThat(serving("silent")).isEqualTo(8);
        assertThat(serving("first")).isEqualTo(4);

        load("second", 10, 10).windows(10);

        assertThat(serving("silent")).isEqualTo(8);
        assertThat(serving("first")).isEqualTo(2);
        assertThat(serving("second")).isEqualTo(2);
    }

    @Test
    void needsExceedTheGpusThatAreNotKept() {
        story = begun("lendstream", ON, 28);
        story.service("silent", 0).service("first", 0).service("second", 0).settled();
        load("silent", 18, 18).load("first", 0, 0).load("second", 0, 0).windows(6);
        load.remove("silent");
        windows(6);
        load("first", 12, 12).windows(8);
        long silent = serving("silent");
        assertThat(serving("first")).isEqualTo(28 - silent);

        load("second", 3, 3).windows(10);

        assertThat(serving("silent")).isEqualTo(silent).isGreaterThan(15);
        assertThat(serving("second")).isEqualTo(3);
    }
}
