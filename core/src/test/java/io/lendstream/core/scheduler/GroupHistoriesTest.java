package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas of several GPUs in random histories, with reports that are lost, repeated and late. */
@Tag("long")
class GroupHistoriesTest {
    private static final List<String> PRODUCTS = List.of("NVIDIA A100-SXM4-80GB", "NVIDIA L4");

    private static final List<QueueId> QUEUES = List.of(new QueueId("team-a"), new QueueId("team-b"));

    private static RandomHistory history(long seed) {
        List<QueueId> queues = seed % 3 == 0 ? QUEUES : List.of();
        return seed % 2 == 0
                ? RandomHistory.grouped(seed, ClusterModel.KINDS, PRODUCTS, queues)
                : RandomHistory.grouped(seed, ClusterModel.ALIKE, List.of(), queues);
    }

    @Seeds(80)
    void noReplicaWorksHalfBound(long seed) {
        RandomHistory history = history(seed);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain(
                        "group", "floor", "quota", "kind", "one owner", "gang", "bind before release", "replay");
    }

    @Seeds(80)
    void noRoleIsTakenUnderItsFloor(long seed) {
        List<QueueId> queues = seed % 3 == 0 ? QUEUES : List.of();
        RandomHistory history = seed % 2 == 0
                ? RandomHistory.inRoles(seed, ClusterModel.KINDS, PRODUCTS, queues)
                : RandomHistory.inRoles(seed, ClusterModel.ALIKE, List.of(), queues);
        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN, started -> history.scheduler());
        history.log().forEach(checker::take);

        assertThat(checker.verdict(history.decisions(), List.of()).violations())
                .extracting(Violation::rule)
                .doesNotContain(
                        "role floor", "group", "floor", "quota", "kind", "one owner", "bind before release", "replay");
    }

    /**
     * Otherwise the rules about quotas would have nothing to judge where replicas have several units. It is rare: of the
     * first 200 histories these three have it.
     */
    @Test
    void replicasOfSeveralUnitsAreGivenAndAskedFor() {
        boolean isGiven = false;
        boolean isAsked = false;
        for (long seed : List.of(100L, 116L, 155L)) {
            RandomHistory history = seed % 2 == 0
                    ? RandomHistory.grouped(seed, ClusterModel.ALIKE, List.of(), QUEUES)
                    : RandomHistory.inRoles(seed, ClusterModel.ALIKE, List.of(), QUEUES);
            for (Decision decision : history.decisions()) {
                Optional<Action.Idle> stop = decision.action()
                        .asIdle()
                        .filter(idle -> decision.reason().is(ReasonCode.QUOTA));
                String text = decision.reason().text();
                isGiven |=
                        stop.filter(idle -> !idle.replicas().isEmpty()).isPresent() && text.contains(" is short of ");
                isAsked |= stop.isPresent() && text.contains(" is short of 1 x ");
            }
        }

        assertThat(isGiven).isTrue();
        assertThat(isAsked).isTrue();
    }

    @Seeds(40)
    void shortcutsHoldForReplicasOfSeveralUnits(long seed) {
        RandomHistory history = history(seed);
        ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

        assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
    }

    /** A service that declares shapes leaves the plan of instances; a quota; a promise that ends while services start. */
    @ParameterizedTest
    @ValueSource(longs = {7058, 7134, 7984})
    void shortcutsHoldWhereTheyDidNot(long seed) {
        shortcutsHoldForReplicasOfSeveralUnits(seed);
    }

    /** The same log, with each service in a shape of one GPU that says what the service says. */
    @Seeds(40)
    void aShapeOfOneGpuDecidesAsNoShape(long seed) {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.KINDS, PRODUCTS);
        List<Decision> decisions = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent each : history.log()) {
            Event event = each.event()
                    .asService()
                    .<Event>map(GroupHistoriesTest::inShape)
                    .orElse(each.event());
            Step step = history.scheduler()
                    .step(
                            state,
                            new DomainEvent(
                                    each.domain(), each.epoch(), each.sequence(), each.at(), Optional.empty(), event));
            state = step.state();
            decisions.addAll(step.decisions());
        }

        assertThat(decisions).isEqualTo(history.decisions());
    }

    /** A replica on every node shortens the time that the scheduler looks ahead. */
    @Seeds(20)
    void shortcutsHoldForReplicasOfOneGpuThatStartFromCache(long seed) {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.KINDS, PRODUCTS);
        StartTimes times =
                new StartTimes(Duration.ofSeconds(90), Optional.of(Duration.ofSeconds(2)), Optional.of(Duration.ZERO));
        List<DomainEvent> log = history.log().stream()
                .map(each -> each.event()
                        .asService()
                        .map(service -> service.inShapes(
                                List.of(ReplicaShape.of("one", 1, 1, service.replicaCapacityPerSecond(), times.cold())
                                        .starting(times))))
                        .map(service -> new DomainEvent(
                                each.domain(), each.epoch(), each.sequence(), each.at(), Optional.empty(), service))
                        .orElse(each))
                .toList();

        assertThat(new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT).firstError(log))
                .as("seed %d", seed)
                .isEmpty();
    }

    private static InferenceService inShape(InferenceService service) {
        return service.inShapes(List.of(new ReplicaShape(
                "one",
                ReplicaRole.ALL,
                1,
                1,
                Optional.of(service.replicaCapacityPerSecond()),
                service.capacities(),
                StartTimes.of(service.warmUp()),
                service.sliceMemoryBytes(),
                Optional.empty())));
    }
}
