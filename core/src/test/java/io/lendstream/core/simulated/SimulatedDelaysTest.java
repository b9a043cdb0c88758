package io.lendstream.core.simulated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SimulatedDelaysTest {
    @Test
    void aChangeOnTopOfOneThatIsNotOverDoesNotShortenIt() {
        Duration remaining = Duration.ofSeconds(17);

        assertThat(SimulatedDelays.realistic()
                        .changeTiming(shrink(1, remaining))
                        .ready())
                .isEqualTo(remaining);
    }

    @Test
    void asPublishedAChangeReplacesTheOneBeforeItAndGpusChangeHandsAtOnce() {
        ChangeTiming changeTiming = SimulatedDelays.published().changeTiming(shrink(1, Duration.ofSeconds(17)));

        assertThat(changeTiming)
                .isEqualTo(new ChangeTiming(
                        Duration.ZERO, Duration.ZERO, Duration.ofSeconds(3), ChangeTiming.FailureMode.NONE));
    }

    @Test
    void jitterStaysWithinItsFractionAndFollowsFromTheSeed() {
        var delays = SimulatedDelays.realistic().withJitter(0.2, 3);

        for (int sequence = 1; sequence <= 100; sequence++) {
            ChangeTiming changeTiming = delays.changeTiming(shrink(sequence, Duration.ZERO));
            assertThat(changeTiming.release()).isBetween(Duration.ofMillis(1200), Duration.ofMillis(1800));
            assertThat(delays.changeTiming(shrink(sequence, Duration.ZERO))).isEqualTo(changeTiming);
        }
        assertThat(delays.withJitter(0.2, 4).changeTiming(shrink(1, Duration.ZERO)))
                .isNotEqualTo(delays.changeTiming(shrink(1, Duration.ZERO)));
    }

    @Test
    void troubleComesAboutAsOftenAsAsked() {
        var delays = SimulatedDelays.realistic().withFailures(new SimulatedDelays.FailureRates(0.3, 0, 0.1), 3);
        int stuck = 0;
        int silent = 0;
        for (int sequence = 1; sequence <= 1000; sequence++) {
            ChangeFacts facts = shrink(sequence, Duration.ZERO);
            boolean isStuck = delays.changeTiming(facts).failure() == ChangeTiming.FailureMode.STUCK_RELEASE;
            boolean isSilent = delays.isSilent(facts.decision(), facts.tenant());
            assertThat(isStuck && isSilent).isFalse();
            stuck += isStuck ? 1 : 0;
            silent += isSilent ? 1 : 0;
        }

        assertThat(stuck).isBetween(250, 350);
        assertThat(silent).isBetween(70, 130);
    }

    @Test
    void sharesOfFailuresAboveOneAreRefused() {
        assertThatThrownBy(() -> new SimulatedDelays.FailureRates(0.6, 0.6, 0))
                .hasMessage(
                        "shares of failures must each be at least 0 and at most 1 together, but were 0.6, 0.6, 0.0");
    }

    private static final PauseCosts PAUSES =
            new PauseCosts(Duration.ofSeconds(9), Duration.ofSeconds(5), Duration.ofSeconds(14), 1L << 30);

    /** A change of a job that can be paused. */
    private static ChangeFacts change(int before, int after, Mechanism mechanism, boolean paused) {
        TrainingJob job = Scenario.of("deepboot").jobRecord("job", 2, false);
        return new ChangeFacts(
                new DecisionId(new DomainId("d"), 1, 1),
                new Tenant.Job(job.job()),
                before > after ? List.of(new GpuId("g")) : List.of(),
                before < after ? List.of(new GpuId("g")) : List.of(),
                before,
                after,
                mechanism,
                10,
                Duration.ZERO,
                Optional.of(job.costing(job.traits().costs().pausing(PAUSES))),
                Optional.empty(),
                paused);
    }

    @Test
    void aPauseAndAResumeTakeWhatTheJobDeclares() {
        SimulatedDelays delays = SimulatedDelays.realistic();

        assertThat(delays.changeTiming(change(2, 0, Mechanism.PAUSE, false)).release())
                .hasSeconds(9);
        assertThat(delays.changeTiming(change(0, 2, Mechanism.PAUSE, true)).ready())
                .hasSeconds(5);
        assertThat(delays.changeTiming(change(0, 2, Mechanism.RESTART, true)).ready())
                .hasSeconds(14);
        assertThat(delays.changeTiming(change(0, 2, Mechanism.RESTART, false)).ready())
                .hasSeconds(24);
    }

    private static ChangeFacts shrink(long sequence, Duration remaining) {
        return new ChangeFacts(
                new DecisionId(new DomainId("d"), 1, sequence),
                new Tenant.Job(new JobId("job")),
                List.of(new GpuId("g")),
                List.of(),
                2,
                1,
                Mechanism.AFE,
                10,
                remaining,
                Optional.empty(),
                Optional.empty());
    }
}
