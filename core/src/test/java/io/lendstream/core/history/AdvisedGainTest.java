package io.lendstream.core.history;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ClusterState;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What advice would have gained. */
class AdvisedGainTest {
    private final Scenario story = Scenario.of("deepboot")
            .node("infer", Pool.INFERENCE, 4)
            .service("chat", 1)
            .settled()
            .rate("chat", 1)
            .settled();

    private AdvisedGain gain() {
        LendingExplainer explainer = new LendingExplainer(story.state().domain());
        story.log().forEach(explainer::take);
        return explainer.gain();
    }

    private void passes(Duration time) {
        for (int i = 0; i < time.toSeconds() / 15; i++) {
            story.rate("chat", 1).after(ofSeconds(15));
        }
    }

    @Test
    void aWaitingJobWouldUseIdleGpus() {
        story.control(ControlCommand.Kind.ADVISORY_ON).job("a", 4);
        passes(ofMinutes(30));

        AdvisedGain gain = gain();

        assertThat(gain.covered()).isBetween(ofMinutes(25), ofMinutes(31));
        assertThat(gain.units()).isEqualTo(4);
        assertThat(gain.lent()).isBetween(0.9, 3.0);
        assertThat(gain.lentHours()).isCloseTo(gain.lent() * gain.covered().toSeconds() / 3600, within(1e-6));
    }

    @Test
    void withoutAJobNothingWouldBeLent() {
        story.control(ControlCommand.Kind.ADVISORY_ON);
        passes(ofMinutes(10));

        assertThat(gain().lent()).isZero();
        assertThat(gain().covered()).isGreaterThan(ofMinutes(8));
    }

    @Test
    void decisionsThatAreCarriedOutAreNoGainOfAdvice() {
        story.job("a", 4);
        passes(ofMinutes(10));

        assertThat(gain().covered()).isZero();
        assertThat(gain().lentHours()).isZero();
    }

    @Test
    void aLongSilenceDoesNotCount() {
        story.control(ControlCommand.Kind.ADVISORY_ON).job("a", 4);
        passes(ofMinutes(10));
        ClusterState before = story.state();
        assertThat(before.advice()).isPresent();
        AdvisedGain gain = new AdvisedGain();

        gain.follow(before, story.after(ofMinutes(5)).state());
        assertThat(gain.covered()).isPositive();

        gain.follow(before, story.after(ofMinutes(60)).state());
        assertThat(gain.covered()).isLessThan(ofMinutes(6));
    }
}
