package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Levels of trust in random histories, with reports that are lost, repeated and late. */
class TrustHistoriesTest {
    private static RandomHistory history(long seed) {
        return RandomHistory.trusted(
                seed, seed % 3 == 0 ? List.of(new QueueId("team-a"), new QueueId("team-b")) : List.of());
    }

    @Seeds(80)
    void nothingIsLentBeyondTheLevel(long seed) {
        RandomHistory history = history(seed);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .filteredOn(violation -> List.of(
                                "trust", "slo", "one owner", "gang", "quota", "bind before release", "replay")
                        .contains(violation.rule()))
                .extracting(Violation::text)
                .isEmpty();
    }

    @Seeds(50)
    void shortcutsChangeNoDecision(long seed) {
        RandomHistory history = history(seed);

        assertThat(new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT).firstError(history.log()))
                .isEmpty();
    }

    /** Else the histories would prove nothing. */
    @Test
    void everyLevelLendsWhatItMay() {
        Map<TrustLevel, Integer> lends = new EnumMap<>(TrustLevel.class);
        int takenBack = 0;
        long late = 0;
        for (long seed = 0; seed < 60; seed++) {
            RandomHistory history = history(seed);
            ClusterState state = ClusterState.empty(Scenario.DOMAIN);
            for (DomainEvent event : history.log()) {
                Step step = history.scheduler().step(state, event);
                state = step.state();
                for (Decision decision : step.decisions()) {
                    if (decision.action().asLend().isPresent() && !decision.advisory()) {
                        lends.merge(state.mode().level(), 1, Integer::sum);
                    }
                    takenBack += decision.isReclaim() && decision.reason().is(ReasonCode.TRUST) ? 1 : 0;
                }
            }
            late += state.mode().trust().orElseThrow().lateReclaims();
        }

        assertThat(lends).containsKeys(TrustLevel.ONE_SERVICE, TrustLevel.SHARE, TrustLevel.ALL);
        assertThat(lends).doesNotContainKey(TrustLevel.OBSERVE);
        assertThat(takenBack).isPositive();
        assertThat(late).isPositive();
    }
}
