package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeSamples;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.snapshot.SnapshotShelf;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the service does with samples that change nothing. */
class HeldSamplesTest {
    private static final NodeId NODE = new NodeId("infer");
    private static final Duration SECOND = Duration.ofSeconds(1);

    private long sequence;

    private static Node node(Instant at) {
        return new Node(
                NODE,
                Scenario.DOMAIN,
                Pool.INFERENCE,
                "boot-1",
                at,
                NodeStatus.READY,
                List.of(Gpu.whole(new GpuId("g0"), 0, "test GPU", 80L << 30)));
    }

    private GpuTelemetry sample(Instant at, int xid) {
        sequence++;
        return new GpuTelemetry(
                NODE,
                Scenario.DOMAIN,
                "boot-1",
                sequence,
                at,
                List.of(GpuSample.of(new GpuId("g0")).lastXid(xid).build()));
    }

    private void sampleFor(Loop loop, int seconds) {
        for (int i = 0; i < seconds; i++) {
            loop.pass(SECOND);
            loop.tell(sample(loop.wallClock(), 13));
        }
    }

    private static List<Event> events(List<DomainEvent> log) {
        return log.stream()
                .map(DomainEvent::event)
                .filter(event -> !event.isTick() && event.asStarted().isEmpty())
                .toList();
    }

    @Test
    void areOneEventEveryTwentySeconds() {
        try (Loop loop = Loop.live()) {
            loop.tell(node(loop.wallClock()));
            sampleFor(loop, 60);

            List<DomainEvent> log = loop.events();
            assertThat(events(log))
                    .filteredOn(event -> event.asTelemetry().isPresent())
                    .extracting(event -> event.asTelemetry().orElseThrow().sequence())
                    .containsExactly(1L);
            assertThat(events(log))
                    .filteredOn(event -> event.asSampleSummary().isPresent())
                    .hasSizeBetween(2, 4);
            assertThat(loop.count("lendstream.samples.held")).isEqualTo(59);
            assertThat(loop.count("lendstream.events", "type", "GpuTelemetry")).isEqualTo(60);
            assertThat(HistoryChecker.check(Scenario.DOMAIN, log, loop.decisions(), loop.leases())
                            .violations())
                    .isEmpty();
        }
    }

    @Test
    void areSummedUpByTheClockWhenTheAgentFallsSilent() {
        try (Loop loop = Loop.live()) {
            loop.tell(node(loop.wallClock()));
            sampleFor(loop, 4);
            Instant last = loop.wallClock();
            loop.events();

            loop.pass(Duration.ofSeconds(25));

            NodeSamples known = new NodeSamples(NODE, NodeSamples.check("boot-1"), 4, last, SECOND, 3);
            assertThat(events(loop.events())).containsExactly(new SampleSummary(Scenario.DOMAIN, last, List.of(known)));
        }
    }

    @Test
    void goBeforeASampleOfTheirNodeThatChangesSomething() {
        try (Loop loop = Loop.live()) {
            loop.tell(node(loop.wallClock()));
            sampleFor(loop, 4);
            loop.events();

            loop.pass(SECOND).tell(sample(loop.wallClock(), 79));

            List<Event> events = events(loop.events());
            assertThat(events).hasSize(2);
            assertThat(events.get(0).asSampleSummary().orElseThrow().nodes())
                    .extracting(NodeSamples::sequence)
                    .containsExactly(4L);
            assertThat(events.get(1).asTelemetry()).isPresent();
        }
    }

    /** The state that is stored is the one of the log, without them. */
    @Test
    void areLostWithTheInstanceAndTheNextSampleFollows() {
        List<DomainEvent> log = new ArrayList<>();
        List<Lease> leases = new ArrayList<>();
        SnapshotShelf shelf = new SnapshotShelf();
        SnapshotPace often = new SnapshotPace(1, Duration.ofMinutes(10));
        try (Loop loop = Loop.snapshotting(often)) {
            loop.tell(node(loop.wallClock()));
            sampleFor(loop, 5);
            log.addAll(loop.events());
            leases.addAll(loop.leases());
            loop.snapshots().forEach(shelf::take);
            try (Loop next = loop.restarted(TimeMode.WALL)) {
                sampleFor(next, 40);
                log.addAll(next.events());
                leases.addAll(next.leases());
                next.snapshots().forEach(shelf::take);
            }
        }

        HistoryChecker checker = new HistoryChecker(Scenario.DOMAIN);
        List<String> notes = new ArrayList<>();
        for (long number : shelf.sequences(Scenario.DOMAIN)) {
            checker.expect(shelf.nearest(Scenario.DOMAIN, number, notes::add).orElseThrow());
        }
        log.forEach(checker::take);
        assertThat(checker.verdict(List.of(), leases).violations()).isEmpty();
        assertThat(notes).isEmpty();
        assertThat(events(log).stream()
                        .flatMap(event -> event.asSampleSummary().stream())
                        .mapToInt(sum -> sum.nodes().get(0).samples())
                        .sum())
                .isLessThanOrEqualTo(40);
    }

    @Test
    void areNotHeldByVirtualTime() {
        try (Loop loop = Loop.accelerated(false)) {
            loop.tell(node(Scenario.START));
            for (int i = 1; i <= 5; i++) {
                loop.tell(sample(Scenario.START.plusSeconds(i), 13));
            }

            assertThat(loop.count("lendstream.samples.held")).isZero();
            assertThat(events(loop.events()))
                    .filteredOn(event -> event.asTelemetry().isPresent())
                    .hasSize(5);
        }
    }
}
