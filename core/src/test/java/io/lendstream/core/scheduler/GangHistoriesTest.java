package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Gangs in random histories, with reports that are lost, repeated and late. */
@Tag("long")
class GangHistoriesTest {
    private static final List<String> PRODUCTS = List.of("NVIDIA A100-SXM4-80GB", "NVIDIA L4");

    private static RandomHistory history(long seed) {
        List<QueueId> queues = seed % 3 == 0 ? List.of(new QueueId("team-a"), new QueueId("team-b")) : List.of();
        return seed % 2 == 0
                ? RandomHistory.ofGangs(seed, ClusterModel.KINDS, PRODUCTS, queues)
                : RandomHistory.ofGangs(seed, ClusterModel.ALIKE, List.of(), queues);
    }

    @Seeds(300)
    void noGangTrainsHalfBound(long seed) {
        RandomHistory history = history(seed);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .filteredOn(violation -> List.of(
                                "group", "gang", "shape", "quota", "kind", "one owner", "bind before release", "replay")
                        .contains(violation.rule()))
                .extracting(Violation::text)
                .isEmpty();
    }

    @Seeds(30)
    void shortcutsChangeNoDecisionAboutGangs(long seed) {
        RandomHistory history = history(seed);

        assertThat(new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT).firstError(history.log()))
                .isEmpty();
    }

    /** Else the histories would prove nothing. */
    @Test
    void someGangsWaitForTheLastOfTheirGpus() {
        int waiting = 0;
        int whole = 0;
        for (long seed = 0; seed < 20; seed++) {
            RandomHistory history = history(seed);
            ClusterState state = ClusterState.empty(Scenario.DOMAIN);
            for (DomainEvent event : history.log()) {
                ClusterState before = state;
                state = history.scheduler().step(before, event).state();
                for (GpuState unit : before.gpus().values()) {
                    boolean waits = unit.isHere() && unit.owner().isHeldByJob();
                    waiting += waits ? 1 : 0;
                    whole += waits
                                    && state.gpus()
                                            .get(unit.gpuId())
                                            .filter(after -> after.owner().isUp())
                                            .isPresent()
                            ? 1
                            : 0;
                }
            }
        }

        assertThat(waiting).isGreaterThan(whole);
        assertThat(whole).isGreaterThan(10);
    }
}
