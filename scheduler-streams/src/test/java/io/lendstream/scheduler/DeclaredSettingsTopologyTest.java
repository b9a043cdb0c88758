package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Settings that a domain declares, through the topology. */
class DeclaredSettingsTopologyTest {
    private static final DomainId EAST = new DomainId("east");
    private static final DomainId WEST = new DomainId("west");

    private final Loop loop = Loop.live();

    @AfterEach
    void close() {
        loop.close();
    }

    private static Node node(DomainId domain, Pool pool, int gpus) {
        String name = domain + "-" + pool;
        List<Gpu> all = IntStream.range(0, gpus)
                .mapToObj(i -> Gpu.whole(new GpuId(name + "-g" + i), i, "H100", 80L << 30))
                .toList();
        return new Node(new NodeId(name), domain, pool, "boot", Loop.WALL_CLOCK, NodeStatus.READY, all);
    }

    private static TrainingJob job(DomainId domain) {
        TrainingJob job = Scenario.of("deepboot").jobRecord(domain + "-job", 1, true);
        return new TrainingJob(
                job.job(),
                domain,
                Loop.WALL_CLOCK,
                job.application(),
                job.scaling(),
                job.precedence(),
                job.traits(),
                job.runner(),
                job.sliceMemoryBytes(),
                job.kindNeeds(),
                job.shape(),
                job.hostNeed());
    }

    private DomainSettings settings(DomainId domain, Map<String, String> settings) {
        return new DomainSettings(domain, loop.wallClock(), settings);
    }

    private static List<Decision> starts(List<Decision> decisions, DomainId domain) {
        return decisions.stream()
                .filter(decision -> decision.id().domain().equals(domain)
                        && !decision.action().isHold())
                .toList();
    }

    private Optional<String> refusal() {
        return loop.deadLetters(TopicCatalogue.DOMAIN_SETTINGS).stream()
                .map(letter -> Loop.header(letter, DeadLetters.ERROR_MESSAGE))
                .findFirst();
    }

    /** Whether the core makes the same decisions of the logs. */
    private static void assertReplays(List<DomainEvent> log, List<Decision> decisions) {
        Map<DomainId, Scheduler> schedulers = new TreeMap<>();
        Map<DomainId, ClusterState> states = new TreeMap<>();
        List<Decision> again = new ArrayList<>();
        for (DomainEvent event : log) {
            event.event().asStarted().ifPresent(started -> schedulers.put(event.domain(), Scheduler.of(started)));
            ClusterState before = states.getOrDefault(event.domain(), ClusterState.empty(event.domain()));
            Step step = schedulers.get(event.domain()).step(before, event);
            states.put(event.domain(), step.state());
            again.addAll(step.decisions());
        }
        assertThat(again).containsExactlyInAnyOrderElementsOf(decisions);
    }

    @Test
    void aDeclarationChangesTheDecisionsOfItsDomainOnlyAndItsEndBringsTheConfigurationBack() {
        loop.tell(node(EAST, Pool.INFERENCE, 2)).tell(node(WEST, Pool.INFERENCE, 2));
        loop.tell(settings(EAST, Map.of("lending", "false")));

        loop.tell(job(EAST)).tell(job(WEST)).pass(Duration.ofMinutes(3));

        List<DomainEvent> log = new ArrayList<>(loop.events());
        List<Decision> decisions = new ArrayList<>(loop.decisions());
        assertThat(starts(decisions, EAST)).isEmpty();
        assertThat(starts(decisions, WEST)).isNotEmpty();

        loop.tell(settings(EAST, Map.of()).removedAt(loop.wallClock())).pass(Duration.ofMinutes(3));

        List<Decision> later = loop.decisions();
        assertThat(starts(later, EAST)).isNotEmpty();
        log.addAll(loop.events());
        decisions.addAll(later);
        assertReplays(log, decisions);
        assertThat(refusal()).isEmpty();
    }

    @Test
    void aRestartKeepsTheDeclaration() {
        loop.tell(node(EAST, Pool.INFERENCE, 2)).tell(settings(EAST, Map.of("lending", "false")));
        List<DomainEvent> log = new ArrayList<>(loop.events());
        List<Decision> decisions = new ArrayList<>(loop.decisions());

        try (Loop second = loop.restarted(TimeMode.WALL)) {
            second.tell(job(EAST)).pass(Duration.ofMinutes(3));

            List<Decision> later = second.decisions();
            assertThat(starts(later, EAST)).isEmpty();
            log.addAll(second.events());
            decisions.addAll(later);
        }
        assertThat(log).extracting(DomainEvent::epoch).contains(2L);
        assertReplays(log, decisions);
    }

    @Test
    void aSettingThatCannotBeDeclaredIsADeadLetterAndTheFormerOnesStay() {
        loop.tell(node(EAST, Pool.INFERENCE, 2)).tell(settings(EAST, Map.of("lending", "false")));

        loop.tell(settings(EAST, Map.of("notice", "PT1M")));

        assertThat(refusal())
                .get()
                .asString()
                .startsWith("the settings of domain east: notice cannot be declared for a domain, only in the"
                        + " configuration of the scheduler (scheduler.notice).");
        loop.tell(job(EAST)).pass(Duration.ofMinutes(3));
        assertThat(starts(loop.decisions(), EAST)).isEmpty();
    }

    @Test
    void aBadValueIsADeadLetter() {
        loop.tell(node(EAST, Pool.INFERENCE, 2)).tell(settings(EAST, Map.of("max-transfers", "0")));

        assertThat(refusal())
                .get()
                .asString()
                .startsWith(
                        "the settings of domain east: max-transfers is '0', but must be a whole number of at least 1.");
        assertThat(loop.events())
                .noneMatch(event -> event.event().asDomainSettings().isPresent());
    }

    @Test
    void eachSettingThatMayBeDeclaredIsOneOfTheConfiguration() {
        assertThat(SchedulerKeys.all())
                .extracting(key -> key.name())
                .containsAll(DeclarableSettings.forms().keySet().stream()
                        .map(name -> "scheduler." + name)
                        .toList());
    }
}
