package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.JobChange;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.Admission;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;

/** Shapes in random histories: sizes, multiples, whole nodes, and racks that change now and then. */
@Tag("long")
class ShapeHistoriesTest {
    private static final TopologyLabels LABELS = TopologyLabels.of("", "rack");
    private static final List<String> PRODUCTS = List.of("NVIDIA A100-SXM4-80GB", "Tesla T4");

    private static RandomHistory history(long seed) {
        List<QueueId> queues = seed % 3 == 0 ? List.of(new QueueId("team-a"), new QueueId("team-b")) : List.of();
        return seed % 2 == 0
                ? RandomHistory.shaped(seed, ClusterModel.KINDS.with(LABELS), PRODUCTS, queues)
                : RandomHistory.shaped(seed, ClusterModel.ALIKE.with(LABELS), List.of(), queues);
    }

    @Seeds(80)
    void noDecisionBreaksAShape(long seed) {
        RandomHistory history = history(seed);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain("shape", "quota", "kind", "one owner", "gang", "bind before release", "replay");
    }

    /** Counted in another way than by the rule: nodes and racks one by one, from labels. */
    @Seeds(40)
    void requiredRacksAndSizesAreKept(long seed) {
        RandomHistory history = history(seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            Step step = history.scheduler().step(state, event);
            state = step.state();
            for (Decision decision : step.decisions()) {
                Optional<JobChange> change = decision.action().jobChange();
                if (change.isPresent()) {
                    check(state, change.get(), seed);
                }
            }
        }
    }

    private static void check(ClusterState state, JobChange change, long seed) {
        JobShape shape = state.jobs().require(change.job()).spec().shape();
        List<GpuState> units =
                change.allocation().gpus().stream().map(state.gpus()::require).toList();
        int size = units.size();
        if (size > 0) {
            assertThat(size % shape.multipleOf()).as("multiple, seed %d", seed).isZero();
            assertThat(shape.sizes().isEmpty() || shape.sizes().contains(size))
                    .as("size %d of %s, seed %d", size, shape, seed)
                    .isTrue();
        }
        if (shape.required().isPresent()) {
            boolean isRack = shape.required().get().level() == TopologyLevel.RACK;
            assertThat(units.stream()
                            .map(unit ->
                                    isRack ? rack(state, unit) : unit.nodeId().value())
                            .distinct())
                    .as("%s in %s, seed %d", units, shape, seed)
                    .hasSizeLessThanOrEqualTo(1);
        }
        if (shape.wholeNodes()) {
            Map<Object, Long> there = units.stream()
                    .collect(Collectors.groupingBy(unit -> List.of(unit.nodeId(), unit.kind()), Collectors.counting()));
            there.forEach((node, count) -> assertThat(state.gpus().stream()
                            .filter(unit -> List.of(unit.nodeId(), unit.kind()).equals(node))
                            .count())
                    .as("whole node %s, seed %d", node, seed)
                    .isEqualTo(count));
        }
    }

    private static String rack(ClusterState state, GpuState unit) {
        return state.nodes()
                .get(unit.nodeId())
                .map(NodeState::node)
                .flatMap(node -> Optional.ofNullable(node.facts().labels().get("rack")))
                .orElse(unit.nodeId().value());
    }

    /** Jobs have hard deadlines where there are queues. */
    @Seeds(40)
    void theShareOfAnAdmittedJobIsANumberThatItsShapeAllows(long seed) {
        RandomHistory history = history(3 * seed);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            state = history.scheduler().step(state, event).state();
            for (JobState job : state.entities().openJobs()) {
                int share = job.admission().map(Admission::share).orElse(0);
                assertThat(job.spec().shape().allows(share))
                        .as("share %d of %s, seed %d", share, job.spec(), 3 * seed)
                        .isTrue();
            }
        }
    }

    @Seeds(40)
    void shortcutsHoldForShapes(long seed) {
        RandomHistory history = history(seed);
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
    }

    /** Labels of nodes, also ones that change, decide nothing without a job that wishes a domain. */
    @Seeds(40)
    void labelsAloneChangeNothing(long seed) {
        RandomHistory history = RandomHistory.of(seed);
        Scheduler plain = history.scheduler();
        Scheduler labelled = new Scheduler(
                plain.policy(),
                plain.settings().withModel(ClusterModel.ALIKE.with(LABELS)),
                plain.latencies(),
                plain.decidesFrom());
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        List<Decision> again = new ArrayList<>();
        for (DomainEvent event : history.log()) {
            Step step = labelled.step(state, inARack(event));
            state = step.state();
            again.addAll(step.decisions());
        }

        assertThat(again).isEqualTo(history.decisions());
    }

    /** The same event; a node is in another rack with each inventory. */
    private static DomainEvent inARack(DomainEvent event) {
        return event.event() instanceof Node node
                ? new DomainEvent(
                        event.domain(),
                        event.epoch(),
                        event.sequence(),
                        event.at(),
                        event.origin(),
                        node.with(new NodeFacts(Map.of("rack", "rack-" + event.sequence() % 3))))
                : event;
    }
}
