package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ServiceRemovalTest {
    private final Scenario story = Scenario.of("deepboot");

    private void remove(String name) {
        story.tell(story.serviceRecord(name, 0).removedAt(story.now()));
    }

    private boolean isKnown(String name) {
        return story.state().services().contains(new ServiceId(name));
    }

    /** Chat has three replicas, one of them warm only. */
    private void chat() {
        story.node("n", Pool.INFERENCE, 4).service("chat", 1).settled();
        story.rate("chat", 25).settled();
        story.after(ofSeconds(15)).rate("chat", 15).settled();
        assertThat(story.count("serving")).isEqualTo(2);
        assertThat(story.count("protected") + story.count("sleeping")).isEqualTo(1);
    }

    @Test
    void aDeletedServiceStopsAllReplicasAndIsForgottenOnceTheyAreReleased() {
        chat();

        remove("chat");

        Decision stop = story.last().get(0);
        assertThat(stop.action().kind()).isEqualTo("idle");
        assertThat(stop.reason().text()).isEqualTo("chat is deleted: it stops its replicas on 3 GPUs");
        assertThat(story.count("releasing")).isEqualTo(3);
        assertThat(isKnown("chat")).as("its units are not free yet").isTrue();

        story.settled();
        assertThat(story.count("free")).isEqualTo(4);
        assertThat(isKnown("chat")).isFalse();
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** A service of the same name that comes later is another one. */
    @Test
    void theLevelOfTrustForgetsADeletedService() {
        chat();
        story.service("search", 0).trust(TrustLevel.ONE_SERVICE, true, "chat");
        remove("search");
        assertThat(story.state().mode().trust().orElseThrow().service()).contains(new ServiceId("chat"));

        remove("chat");

        assertThat(story.state().mode().level()).isEqualTo(TrustLevel.ONE_SERVICE);
        assertThat(story.state().mode().trust().orElseThrow().service()).isEmpty();
        story.settled().service("chat", 0);
        assertThat(story.state().mode().trust().orElseThrow().inWords()).isEqualTo("one (no service named)");
    }

    @Test
    void lateRatesAndForecastsOfADeletedServiceStartNothing() {
        chat();
        remove("chat");
        Decision stop = story.last().get(0);

        story.rate("chat", 35).forecast("chat", 50);
        assertThat(story.lastKinds()).isEmpty();
        story.answers(stop).forEach(story::tell);
        story.after(ofSeconds(15)).rate("chat", 35).forecast("chat", 50).after(ofMinutes(5));

        assertThat(isKnown("chat")).isFalse();
        assertThat(story.count("free")).isEqualTo(4);
    }

    @Test
    void aReplicaThatStartsIsStoppedWhenItIsUp() {
        story.node("n", Pool.INFERENCE, 2).service("chat", 1);
        Decision start = story.last().get(0);

        remove("chat");
        assertThat(story.last()).isEmpty();
        story.answers(start).forEach(story::tell);

        Decision stop = story.decisions().get(story.decisions().size() - 1);
        assertThat(stop.action().kind()).isEqualTo("idle");
        story.answers(stop).forEach(story::tell);
        assertThat(isKnown("chat")).isFalse();
        assertThat(story.count("free")).isEqualTo(2);
    }

    @Test
    void aServiceThatIsDeclaredAgainHasNoHistory() {
        chat();
        remove("chat");
        story.settled();

        story.service("chat", 1).settled();

        assertThat(story.count("serving")).as("its floor, and not its old rate").isEqualTo(1);
    }

    @Test
    void aServiceThatIsDeclaredAgainWhileItStopsIsNotForgotten() {
        chat();
        remove("chat");

        story.service("chat", 1).settled();

        assertThat(isKnown("chat")).isTrue();
        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.state().clusterIndex().removed().isEmpty()).isTrue();
    }

    @Test
    void aServiceWithoutReplicasIsForgottenAtOnceAndASecondRemovalChangesNothing() {
        story.node("n", Pool.INFERENCE, 1).service("chat", 0).service("search", 0);

        remove("chat");
        assertThat(isKnown("chat")).isFalse();
        ClusterState before = story.state();
        remove("chat");

        assertThat(story.state().entities()).isEqualTo(before.entities());
        assertThat(isKnown("search")).isTrue();
    }

    @Test
    void theSilenceOfADeletedServiceStopsNoLending() {
        story.node("n", Pool.INFERENCE, 3).service("chat", 0).service("search", 0);
        story.rate("search", 5).rate("chat", 5).settled();
        story.job("bert", 1).after(ofSeconds(90)).settled();
        remove("chat"); // its release is not reported for a while

        for (int i = 0; i < 3; i++) {
            story.after(ofSeconds(15)).rate("search", 5);
        }

        assertThat(story.decisions())
                .noneMatch(decision -> decision.reason().text().contains("rates of chat are")
                        && decision.at().isAfter(story.now().minusSeconds(40)));
        assertThat(story.state().clusterIndex().silent().size()).isEqualTo(1);
    }

    @Test
    void theUnitsOfADeletedServiceAreLent() {
        story.node("n", Pool.INFERENCE, 1).service("chat", 1).settled();
        story.job("bert", 1).after(ofMinutes(1));
        assertThat(story.count("lent")).isZero();

        remove("chat");
        story.settled().after(ofMinutes(1)).settled();

        assertThat(story.count("lent")).isEqualTo(1);
    }

    @Test
    void inAdvisoryModeADeletedServiceKeepsItsReplicasAndItsStopIsAdvised() {
        chat();
        story.control(ControlCommand.Kind.ADVISORY_ON);

        remove("chat");
        story.after(ofMinutes(2));

        assertThat(isKnown("chat")).isTrue();
        assertThat(story.count("releasing")).isZero();
        Decision advice = story.state().advice().orElseThrow().decisions().stream()
                .filter(decision -> decision.reason().text().contains("chat is deleted"))
                .findFirst()
                .orElseThrow();
        story.approve(advice.id());
        story.settled();
        assertThat(isKnown("chat")).isFalse();
    }

    @Test
    void withoutItsQueueAJobHasNoQuota() {
        story.queue("team", Optional.empty(), KindQuota.of(Optional.empty(), 1));
        story.node("n", Pool.TRAINING, 4);
        story.rigidJob("bert", 4, "team");
        story.after(ofMinutes(2));
        assertThat(story.count("training") + story.count("binding")).isZero();

        story.tell(story.state().queues().require(new QueueId("team")).spec().removedAt(story.now()));
        story.after(ofMinutes(1));

        assertThat(story.state().queues().isEmpty()).isTrue();
        assertThat(story.count("binding") + story.count("training")).isEqualTo(4);
    }
}
