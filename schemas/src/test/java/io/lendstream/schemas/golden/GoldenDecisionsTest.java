package io.lendstream.schemas.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Lease;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What the scheduler decides, word for word; {@code -Dgolden.update=true} writes it down again. */
final class GoldenDecisionsTest {
    private static final boolean UPDATE = Boolean.getBoolean("golden.update");

    @TestFactory
    Stream<DynamicTest> theSchedulerDecidesAsWrittenDown() {
        assertThat(GoldenCase.all()).isNotEmpty();
        return GoldenCase.all().stream()
                .map(golden -> DynamicTest.dynamicTest(
                        golden.sentence(), golden.input().toUri(), () -> decidesAsWrittenDown(golden)));
    }

    private static void decidesAsWrittenDown(GoldenCase golden) {
        Replayed replayed = replay(golden.events());
        if (UPDATE) {
            GoldenCase.write(golden.decisions(), replayed.lines());
        }

        assertThat(replayed.unknown())
                .as(
                        "%s has reports on decisions that are not made any more; the log has to be written again, see README.md",
                        golden.input())
                .isEmpty();
        assertThat(Files.exists(golden.decisions()))
                .as("%s exists; -Dgolden.update=true writes it", golden.decisions())
                .isTrue();
        assertThat(String.join("\n", replayed.lines()))
                .as(
                        "decisions of '%s'; if they are meant to change, rewrite them with -Dgolden.update=true and review the difference",
                        golden.sentence())
                .isEqualTo(String.join("\n", GoldenCase.lines(golden.decisions())));
        assertThat(HistoryChecker.check(
                                replayed.log().get(0).domain(),
                                replayed.log(),
                                replayed.decisions(),
                                List.copyOf(replayed.leases().values()))
                        .violations())
                .isEmpty();
    }

    @TestFactory
    Stream<DynamicTest> everyDecisionIsExplainedAsItWasMade() {
        return GoldenCase.all().stream()
                .map(golden -> DynamicTest.dynamicTest(
                        golden.sentence(), golden.input().toUri(), () -> isExplained(golden.events())));
    }

    private static void isExplained(List<DomainEvent> log) {
        for (Decision decision : replay(log).decisions()) {
            Explainer explainer = new Explainer(decision);
            log.forEach(explainer::take);

            assertThat(explainer.explanation().obstacle()).isEmpty();
            assertThat(explainer.explanation().differences()).isEmpty();
            assertThat(explainer.explanation().missing()).isEmpty();
        }
    }

    /**
     * What became of a log.
     *
     * @param unknown decisions that were reported on before they were made, or never made
     */
    private record Replayed(
            List<DomainEvent> log,
            List<Decision> decisions,
            List<String> lines,
            Map<GpuId, Lease> leases,
            Set<DecisionId> unknown) {}

    private static Replayed replay(List<DomainEvent> log) {
        ClusterState state = ClusterState.empty(log.get(0).domain());
        Scheduler scheduler = Scheduler.of((SchedulerStarted) log.get(0).event());
        Replayed replayed =
                new Replayed(log, new ArrayList<>(), new ArrayList<>(), new LinkedHashMap<>(), new HashSet<>());
        Set<DecisionId> made = new HashSet<>();
        for (DomainEvent event : log) {
            if (event.event() instanceof SchedulerStarted started) {
                scheduler = Scheduler.of(started);
            } else if (event.event() instanceof ActuationReport report && !made.contains(report.decision())) {
                replayed.unknown().add(report.decision());
            }
            Step step = scheduler.step(state, event);
            state = step.state();
            for (Decision decision : step.decisions()) {
                made.add(decision.id());
                replayed.decisions().add(decision);
                replayed.lines().add(GoldenCase.line(event, decision));
            }
            for (GpuId gpu : step.changed().owners()) {
                replayed.leases().remove(gpu);
                state.gpus()
                        .get(gpu)
                        .map(owned -> owned.lease(event.domain(), step.state().epoch()))
                        .ifPresent(lease -> replayed.leases().put(gpu, lease));
            }
        }
        return replayed;
    }
}
