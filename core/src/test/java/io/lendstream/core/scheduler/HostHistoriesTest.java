package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.HostShare;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.RequestedChange;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Node;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hosts in random histories: needs that change, pauses, and nodes that report more and less, leave and come back. */
@Tag("long")
class HostHistoriesTest {
    @Seeds(80)
    void noDecisionTakesMoreHostMemoryThanANodeHas(long seed) {
        RandomHistory history = RandomHistory.hosted(seed);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain("host", "one owner", "gang", "bind before release", "replay");
    }

    /** Counted in another way than by the rule: unit by unit, at each step with decisions. */
    @Seeds(40)
    void sharesAndPausesStayWithinTheMemoryOfNodes(long seed) {
        RandomHistory history = RandomHistory.hosted(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            Map<NodeId, Long> before = used(state);
            Step step = history.scheduler().step(state, event);
            state = step.state();
            if (step.decisions().isEmpty()) {
                continue;
            }
            for (Map.Entry<NodeId, Long> node : used(state).entrySet()) {
                Optional<Long> has = state.nodes()
                        .get(node.getKey())
                        .flatMap(known -> known.node().facts().memoryBytes());
                long most = Math.max(has.orElse(Long.MAX_VALUE), before.getOrDefault(node.getKey(), 0L));
                assertThat(node.getValue())
                        .as("host memory of %s, event %d, seed %d", node.getKey(), event.sequence(), seed)
                        .isLessThanOrEqualTo(most);
            }
        }
    }

    private static Map<NodeId, Long> used(ClusterState state) {
        Map<NodeId, Long> used = new TreeMap<>();
        for (JobState job : state.jobs().values()) {
            if (!job.isOver()) {
                long each = job.allocation().host().map(HostShare::memoryBytes).orElse(0L);
                job.allocation().gpus().stream()
                        .flatMap(gpu -> state.gpus().get(gpu).stream())
                        .map(GpuState::nodeId)
                        .forEach(node -> used.merge(node, each, Long::sum));
                job.paused().ifPresent(at -> used.merge(at.node(), at.hostMemoryBytes(), Long::sum));
            }
        }
        return used;
    }

    @Test
    void jobsArePausedAndResumed() {
        int pauses = 0;
        int resumes = 0;
        for (long seed = 1; seed <= 1000 && (pauses == 0 || resumes == 0); seed++) {
            for (Decision decision : RandomHistory.hosted(seed).decisions()) {
                boolean isPause = decision.action()
                        .jobChange()
                        .filter(change -> change.allocation().mechanism() == Mechanism.PAUSE)
                        .isPresent();
                if (isPause && !decision.advisory()) {
                    boolean isEnd = decision.action()
                            .jobChange()
                            .orElseThrow()
                            .allocation()
                            .isPaused();
                    pauses += isEnd ? 1 : 0;
                    resumes += isEnd ? 0 : 1;
                }
            }
        }

        assertThat(pauses).isPositive();
        assertThat(resumes).isPositive();
    }

    @Seeds(40)
    void shortcutsHoldForHosts(long seed) {
        RandomHistory history = RandomHistory.hosted(seed);
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
    }

    /** Jobs that need nothing get shares, and the same GPUs as without hosts. */
    @Seeds(40)
    void hostsAloneChangeNoGpus(long seed) {
        RandomHistory history = RandomHistory.of(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        List<RequestedChange> again = new ArrayList<>();
        for (DomainEvent event : history.log()) {
            Step step = history.scheduler().step(state, onAHost(event));
            state = step.state();
            step.decisions().forEach(decision -> again.add(RequestedChange.of(decision)));
        }

        assertThat(again)
                .isEqualTo(history.decisions().stream().map(RequestedChange::of).toList());
    }

    /** The same event; a node has 32 CPUs and 128 GiB. */
    private static DomainEvent onAHost(DomainEvent event) {
        return event.event() instanceof Node node
                ? new DomainEvent(
                        event.domain(),
                        event.epoch(),
                        event.sequence(),
                        event.at(),
                        event.origin(),
                        node.with(node.facts().withHost(Optional.of(32_000L), Optional.of(128L << 30))))
                : event;
    }
}
