package io.lendstream.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.simulator.World;
import io.lendstream.simulator.WorldSettings;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.Request;
import io.lendstream.simulator.workload.ServiceLoad;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A request after 30 s, and a replica that wakes in 5 s and answers in 4 s. */
class WorldPlayTest {
    private static final Instant START = Workload.EPOCH;
    private static final DomainId DOMAIN = new DomainId("test");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final NodeId NODE = new NodeId("node");
    private static final GpuId GPU = new GpuId("node-g0");

    private final World world;
    private final WorldPlay play;
    private long decided;

    WorldPlayTest() {
        StartTimes times = new StartTimes(Duration.ofSeconds(8), Optional.empty(), Optional.of(Duration.ofSeconds(5)));
        InferenceService chat = new InferenceService(
                        CHAT,
                        DOMAIN,
                        START,
                        List.of("chat"),
                        Duration.ofSeconds(10),
                        0.2,
                        Optional.of(1),
                        0,
                        Duration.ofSeconds(8))
                .inShapes(List.of(
                        ReplicaShape.of("one", 1, 1, 1, Duration.ofSeconds(8)).starting(times)));
        Demand demand = new Demand.Requests(List.of(new Request("r1", at(30), Duration.ofSeconds(4))), START);
        Workload workload = new Workload("test", START, List.of(), List.of(new ServiceLoad(chat, demand)));
        world = new World(workload, WorldSettings.of(1));
        play = new WorldPlay(world, workload);
        play.take(new Node(
                NODE,
                DOMAIN,
                Pool.INFERENCE,
                "boot-1",
                START,
                NodeStatus.READY,
                List.of(Gpu.whole(GPU, 0, "test GPU", 80L << 30))));
        play.advance(START);
        report(serve(0, false), 0, Outcome.ACCEPTED);
        report(new DecisionId(DOMAIN, 1, decided), 8, Outcome.BOUND);
        advance(20);
    }

    private static Instant at(int seconds) {
        return START.plusSeconds(seconds);
    }

    private void advance(int seconds) {
        while (play.nextEventAt().filter(next -> !next.isAfter(at(seconds))).isPresent()) {
            play.advance(play.nextEventAt().orElseThrow());
        }
        play.advance(at(seconds));
    }

    private DecisionId serve(int seconds, boolean warm) {
        DecisionId id = new DecisionId(DOMAIN, 1, ++decided);
        play.take(new Decision(
                id,
                at(seconds),
                at(seconds + 60),
                false,
                new Reason("test", "test", Map.of(), List.of()),
                new Action.Serve(CHAT, List.of(GPU), warm)));
        return id;
    }

    private void report(DecisionId decision, int seconds, Outcome outcome) {
        play.take(new ActuationReport(
                DOMAIN,
                decision,
                "test",
                at(seconds),
                outcome,
                List.of(GPU),
                Optional.of(new Tenant.Service(CHAT)),
                Timings.NONE,
                ""));
    }

    private void sleeps(int seconds) {
        play.take(new Lease(
                GPU, NODE, DOMAIN, Pool.INFERENCE, new Owner.Sleeping(CHAT), 1, 1, at(seconds), Optional.empty()));
    }

    private Instant answered() {
        return world.results().requests().get(0).completed();
    }

    @Test
    void aReplicaThatSleepsByItsLeaseTakesItsTimeToWake() {
        sleeps(20);
        advance(31);
        report(serve(31, true), 31, Outcome.ACCEPTED);
        advance(60);

        assertThat(answered()).isEqualTo(at(40));
    }

    /** The lease was read after the decision that ended the sleep. */
    @Test
    void aLateLeaseChangesNothing() {
        advance(25);
        report(serve(25, true), 25, Outcome.ACCEPTED);
        sleeps(20);
        advance(60);

        assertThat(answered()).isEqualTo(at(34));
    }
}
