package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.cli.GpuNames;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A machine whose name has changed while a job has its GPU. */
class MovedGpusTest {
    private static final Instant NOW = Instant.parse("2026-11-28T10:00:00Z");
    private static final String MOVED = "training job bert has it on node old, and node new reports it";

    private static Node node(String name, NodeStatus status, Duration after) {
        return new Node(
                new NodeId(name),
                new DomainId("east"),
                Pool.TRAINING,
                "boot",
                NOW.plus(after),
                status,
                List.of(Gpu.whole(new GpuId("g0"), 0, "A100", 1)));
    }

    private static Lease lease(String node, Owner owner) {
        return new Lease(
                new GpuId("g0"),
                new NodeId(node),
                new DomainId("east"),
                Pool.TRAINING,
                owner,
                1,
                1,
                NOW,
                Optional.empty());
    }

    private static final Owner BERT = new Owner.Training(new JobId("bert"));

    @Test
    void topHasAnAlarmUntilTheTenantLeaves() {
        Overview overview = new Overview();
        overview.tell(node("old", NodeStatus.READY, Duration.ZERO));
        overview.tell(lease("old", BERT));
        assertThat(overview.alarms(NOW)).isEmpty();
        overview.tell(node("new", NodeStatus.READY, Duration.ofMinutes(1)));
        assertThat(overview.alarms(NOW)).containsExactly("g0: " + MOVED);
        overview.tell(lease("new", new Owner.Free()));
        assertThat(overview.alarms(NOW)).isEmpty();
    }

    @Test
    void doctorSaysWhatToDo() {
        MovedGpus moved = new MovedGpus();
        moved.take(node("new", NodeStatus.READY, Duration.ofMinutes(1)));
        moved.take(node("old", NodeStatus.READY, Duration.ZERO));
        assertThat(moved.finding(List.of(lease("old", BERT)), new GpuNames()).line())
                .isEqualTo(
                        "warn moved: g0, " + MOVED
                                + "; give each machine a name of its own; after a change of a name set agent.node to the old one until these tenants have ended");
        assertThat(moved.finding(List.of(lease("old", new Owner.Free())), new GpuNames())
                        .line())
                .isEqualTo("ok   moved: no GPU of a tenant is reported by another node than its own");
    }

    @Test
    void aNodeThatIsOutOfServiceOrReportedEarlierDoesNotHaveTheGpu() {
        MovedGpus moved = new MovedGpus();
        moved.take(node("old", NodeStatus.READY, Duration.ofMinutes(1)));
        moved.take(node("earlier", NodeStatus.READY, Duration.ZERO));
        moved.take(node("down", NodeStatus.PAUSED, Duration.ofMinutes(2)));
        assertThat(moved.lines(List.of(lease("old", BERT)))).isEmpty();
    }
}
