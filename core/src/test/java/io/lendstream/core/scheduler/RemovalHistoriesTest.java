package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Replica;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Services and queues that are deleted and declared again in random histories, with reports that are lost and late. */
class RemovalHistoriesTest {
    private static final List<QueueId> QUEUES = List.of(new QueueId("team-a"), new QueueId("team-b"));

    private static final Set<String> RULES = Set.of(
            "group", "floor", "role floor", "quota", "kind", "one owner", "gang", "bind before release", "replay");

    private static RandomHistory history(long seed) {
        List<String> products = seed % 4 == 1 ? List.of("NVIDIA A100-SXM4-80GB", "Tesla T4") : List.of();
        return RandomHistory.withRemovals(seed, products, seed % 2 == 0 ? QUEUES : List.of(), seed % 4 == 3);
    }

    @Seeds(80)
    void noRuleIsBrokenAndTheLogReplays(long seed) {
        RandomHistory history = history(seed);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .filteredOn(violation -> RULES.contains(violation.rule()))
                .extracting(Violation::text)
                .isEmpty();
    }

    @Seeds(40)
    void shortcutsChangeNoDecision(long seed) {
        RandomHistory history = history(seed);

        assertThat(new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT).firstError(history.log()))
                .isEmpty();
    }

    @Seeds(80)
    void noUnitIsHeldForAServiceThatIsForgotten(long seed) {
        RandomHistory history = history(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            state = history.scheduler().step(state, event).state();
            for (Map.Entry<Replica, ?> replica : state.clusterIndex().gpus().replicas()) {
                assertThat(state.services().contains(replica.getKey().service()))
                        .as("event %d: %s", event.sequence(), replica.getKey())
                        .isTrue();
            }
        }
    }

    /** Else the histories would prove nothing. */
    @Test
    void servicesWithReplicasAreDeletedAndForgotten() {
        int forgotten = 0;
        int stopped = 0;
        for (long seed = 0; seed < 40; seed++) {
            RandomHistory history = history(seed);
            ClusterState state = ClusterState.empty(Scenario.DOMAIN);
            for (DomainEvent event : history.log()) {
                ClusterState before = state;
                Step step = history.scheduler().step(state, event);
                state = step.state();
                for (ServiceId name : step.changed().services()) {
                    forgotten += before.services().contains(name)
                                    && !state.services().contains(name)
                            ? 1
                            : 0;
                }
                for (Decision decision : step.decisions()) {
                    stopped += decision.reason().text().contains("is deleted: it stops") ? 1 : 0;
                }
            }
        }

        assertThat(forgotten).isGreaterThan(50);
        assertThat(stopped).isGreaterThan(20);
    }
}
