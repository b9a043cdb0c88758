package io.lendstream.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A rigid job that asked for two GPUs: which decisions leave it with fewer, and when no decision is to blame. */
class BrokenGangsTest {
    private static final JobId JOB = new JobId("a");
    private static final Tick TICK = new Tick(Scenario.DOMAIN, Scenario.START);

    private final ScriptedHistory history = new ScriptedHistory()
            .gpu("train-g0", Pool.TRAINING, new Owner.Training(JOB))
            .gpu("train-g1", Pool.TRAINING, new Owner.Training(JOB))
            .job("a", 2, "train-g0", "train-g1")
            .tick();
    private final Gangs gangs = new Gangs();

    /** Every action that can give a job another allocation. */
    private static List<Action> actions(Allocation allocation) {
        List<GpuId> changed = List.of(new GpuId("train-g1"));
        return List.of(
                new Action.Lend(JOB, changed, Scenario.START, allocation),
                new Action.Reclaim(JOB, changed, Scenario.START, allocation),
                new Action.Resize(JOB, changed, allocation));
    }

    @Test
    void noActionMayLeaveAJobWithFewerGpusThanItRunsOn() {
        for (Action action : actions(ScriptedHistory.allocation("train-g0"))) {
            assertThat(gangs.check(history.decides(action), history.state())).hasValueSatisfying(violation -> {
                assertThat(violation.rule()).isEqualTo("gang");
                assertThat(violation.text())
                        .contains("gives a job 1 GPU that runs on 2 or more: ")
                        .endsWith(action.toString());
            });
        }
    }

    @Test
    void everyActionMayGiveAJobAllThatItRunsOnOrNothing() {
        for (Action action : actions(ScriptedHistory.allocation("train-g0", "train-g1"))) {
            assertThat(gangs.check(history.decides(action), history.state())).isEmpty();
        }
        for (Action action : actions(ScriptedHistory.allocation())) {
            assertThat(gangs.check(history.decides(action), history.state())).isEmpty();
        }
    }

    @Test
    void actionsThatGiveNoJobGpusBreakNoGang() {
        Action hold = new Action.Hold(Optional.of(JOB), Optional.empty());

        assertThat(gangs.check(history.decides(hold), history.state())).isEmpty();
    }

    @Test
    void aJobWhoseOwnerAsksForMoreIsExcusedUntilItHasThat() {
        history.job("a", 3, "train-g0", "train-g1").tick();
        gangs.follow(history.state(), ScriptedHistory.jobRecord("a", 3), true);
        assertThat(gangs.broken()).containsExactly(JOB);

        gangs.follow(history.tick().state(), TICK, true);
        assertThat(gangs.broken()).containsExactly(JOB);

        history.job("a", 3, "train-g0", "train-g1", "train-g2").tick();
        gangs.follow(history.state(), TICK, true);
        assertThat(gangs.broken()).isEmpty();

        history.job("a", 3, "train-g0", "train-g1").tick();
        gangs.follow(history.state(), TICK, true);
        assertThat(gangs.broken()).isEmpty();
    }

    @Test
    void aJobThatLosesGpusIsExcusedOnlyWhereNothingCouldBeDecided() {
        history.job("a", 2, "train-g0").tick();

        gangs.follow(history.state(), TICK, true);
        assertThat(gangs.broken()).isEmpty();

        gangs.follow(history.state(), ScriptedHistory.jobRecord("b", 2), true);
        assertThat(gangs.broken()).isEmpty();

        gangs.follow(history.state(), TICK, false);
        assertThat(gangs.broken()).containsExactly(JOB);
    }

    @Test
    void aJobThatLosesGpusWhileDecisionsAreAdviceIsExcused() {
        history.job("a", 2, "train-g0").advisory(true).tick();

        gangs.follow(history.state(), TICK, true);

        assertThat(gangs.broken()).containsExactly(JOB);
    }
}
