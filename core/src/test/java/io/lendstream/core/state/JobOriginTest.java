package io.lendstream.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JobOriginTest {
    private static final DecisionId DECISION = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final Instant NOW = Scenario.START;

    private final TrainingJob bert = Scenario.of("deepboot").jobRecord("bert", 2, false);
    private final TrainingJob claiming = bert.adopting(new AdoptionSelector(Map.of("command", "*train.py*")));

    private static JobState on(JobState job, String... gpus) {
        List<GpuId> units = List.of(gpus).stream().map(GpuId::new).toList();
        return job.allocated(new Allocation(units, 1, 0, 1, Mechanism.RESTART), Optional.empty(), DECISION, NOW, NOW);
    }

    @Test
    void whatWasTakenOverStaysSoUntilItHasLeftAllItsGpus() {
        JobState taken = on(JobState.of(claiming, 1), "a", "b").takenOver();

        assertThat(taken.described(bert, 2).isTakenOver()).isTrue();
        assertThat(on(taken, "b", "c").isTakenOver()).isTrue();
        assertThat(taken.without(List.of(new GpuId("a")), NOW).isTakenOver()).isTrue();
        assertThat(on(on(taken), "a", "b").isTakenOver()).isFalse();
        assertThat(on(taken.without(taken.allocation().gpus(), NOW), "c").isTakenOver())
                .isFalse();
    }

    @Test
    void whatLendstreamStartedIsNotTakenOverByADeclaration() {
        JobState started = on(JobState.of(bert, 1), "a", "b");

        assertThat(started.described(claiming, 2).isTakenOver()).isFalse();
    }

    /** States of older versions do not say who started it: it is as was declared when they were left. */
    @Test
    void inAStateOfAnOlderVersionTheDeclarationOfThatTimeCounts() {
        JobState adopted = from(on(JobState.of(claiming, 1), "a", "b"), JobOrigin.UNKNOWN);
        JobState started = from(on(JobState.of(bert, 1), "a", "b"), JobOrigin.UNKNOWN);

        assertThat(adopted.isTakenOver()).isTrue();
        assertThat(adopted.described(bert, 2).isTakenOver()).isTrue();
        assertThat(started.described(claiming, 2).isTakenOver()).isFalse();
    }

    private static JobState from(JobState job, JobOrigin origin) {
        return new JobState(
                job.spec(),
                job.work(),
                job.learned(),
                job.grant().from(origin),
                job.change(),
                job.usage(),
                job.lastProgressAt(),
                job.standing(),
                job.admission(),
                job.lastEvent());
    }
}
