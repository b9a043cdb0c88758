package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Records of actuators, nodes and sources that are late, repeated, or differ from what was decided. */
class SchedulerReportsTest extends SmallClusterFixture {
    @Test
    void aRecordThatComesTwiceChangesNothing() {
        smallCluster("deepboot").rate("chat", 1);
        var before = story.state().services();

        story.tell(story.rateRecord("chat", 50, 1));

        assertThat(story.last()).isEmpty();
        assertThat(story.state().services()).isEqualTo(before);
    }

    @Test
    void aSourceThatWasReplacedIsForgottenInTheEnd() {
        smallCluster("deepboot").rate("chat", 25).settled();
        for (int minute = 1; minute <= 10; minute++) {
            story.after(ofMinutes(1))
                    .settled()
                    .tell(fromPod("pod-2", 5, minute))
                    .settled();
        }
        assertThat(demand()).as("as long as the first may come back").isEqualTo(30);

        story.after(ofMinutes(1)).settled().tell(fromPod("pod-2", 5, 11)).settled();

        assertThat(demand()).isEqualTo(5);
    }

    private double demand() {
        return story.state().services().require(new ServiceId("chat")).arrivalsPerSecond();
    }

    private RequestRate fromPod(String pod, double perSecond, long sequence) {
        RequestRate gateway = story.rateRecord("chat", perSecond, sequence);
        return new RequestRate(
                gateway.service(),
                gateway.domain(),
                pod,
                gateway.bootId(),
                sequence,
                gateway.windowStart(),
                gateway.windowEnd(),
                gateway.requests(),
                gateway.latency(),
                List.of(),
                List.of());
    }

    @Test
    void aLateReleaseOfAnotherTenantDoesNotFreeAGpu() {
        lending("deepboot").rate("chat", 25);
        Decision reclaim = story.last().get(1);
        var released = story.answers(reclaim).get(0);
        story.tell(released);
        GpuId gpu = reclaim.action().gpus().get(0);
        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Binding.class);

        story.tell(released);

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Binding.class);
        story.tell(story.answers(story.decisions().get(story.decisions().size() - 1))
                .get(0));
    }

    @Test
    void anOlderReleaseOfTheSameTenantDoesNotFreeAGpuThatItIsLeavingAgain() {
        lending("deepboot").rate("chat", 25);
        Decision reclaim = story.last().get(1);
        GpuId gpu = reclaim.action().gpus().get(0);
        Decision lend = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend
                        && decision.action().gpus().contains(gpu))
                .findFirst()
                .orElseThrow();
        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Releasing.class);

        story.tell(
                story.report(lend.id(), Outcome.RELEASED, List.of(gpu), Optional.of(new Tenant.Job(new JobId("a")))));

        assertThat(story.owner(gpu.value())).isInstanceOf(Owner.Releasing.class);
        story.tell(story.answers(reclaim).get(0)).settled();
    }

    @Test
    void aReplicaOfWhichItsActuatorKnowsNothingIsReplaced() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);

        story.tell(holds(replica.gpuId(), Optional.empty()));

        assertThat(story.lastKinds()).contains("serve");
        story.settled();
        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void aGpuOnWhichAnotherRunsThanWasDecidedIsPutOutOfService() {
        lending("deepboot").after(ofSeconds(1));
        GpuId taken = first(Owner.Training.class).gpuId();
        GpuId free = first(Owner.Free.class).gpuId();
        Optional<Tenant> stranger = Optional.of(new Tenant.Job(new JobId("stranger")));

        story.tell(holds(taken, stranger)).tell(holds(free, stranger));

        assertThat(story.owner(taken.value()))
                .isEqualTo(
                        new Owner.Quarantined(
                                "actuator test finds job stranger running on it, where job a was decided; stop what should not run there, then reset it"));
        assertThat(story.owner(free.value())).isInstanceOf(Owner.Quarantined.class);
        assertThat(story.job("a").allocation().gpus()).doesNotContain(taken);
    }

    @Test
    void stockThatIsAsDecidedOrFromBeforeChangesNothing() {
        smallCluster("deepboot").rate("chat", 1);
        ActuationReport before = holds(first(Owner.Serving.class).gpuId(), Optional.empty());
        story.after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);
        ClusterState state = story.state();

        story.tell(before).tell(holds(replica.gpuId(), replica.owner().holder()));

        assertThat(story.state().gpus()).isEqualTo(state.gpus());
    }

    private GpuState first(Class<? extends Owner> owner) {
        return story.state().gpus().stream()
                .filter(gpu -> owner.isInstance(gpu.owner()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aNodeThatDoesNotSeeItsGpusKeepsThem() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        ClusterState before = story.state();
        NodeId node = first(Owner.Serving.class).nodeId();

        story.tell(inventory(node, NodeStatus.UNAVAILABLE));

        assertThat(story.state().gpus()).isEqualTo(before.gpus());
    }

    @Test
    void aGpuThatItsNodeNoLongerReportsIsOutOfServiceIfATenantHasIt() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);

        story.tell(inventory(replica.nodeId(), NodeStatus.READY));

        assertThat(story.owner(replica.gpuId().value()))
                .isEqualTo(new Owner.Quarantined("its node no longer reports it"));
    }

    /** A record may come twice, and the older one of two after the newer. */
    @Test
    void anInventoryThatWasDeliveredAgainChangesNothing() {
        smallCluster("deepboot");
        NodeId node = new NodeId("infer");
        Node known = story.state().nodes().require(node).node();
        Node ready = numbered(known, 7, NodeStatus.READY);

        story.tell(ready).tell(numbered(known, 8, NodeStatus.PAUSED));
        story.tell(ready);
        assertThat(story.state().nodes().require(node).node().status()).isEqualTo(NodeStatus.PAUSED);

        story.tell(numbered(known, 9, NodeStatus.READY));
        assertThat(story.state().nodes().require(node).node().status()).isEqualTo(NodeStatus.READY);
        story.tell(inventory(node, NodeStatus.UNAVAILABLE));
        assertThat(story.state().nodes().require(node).node().status())
                .as("of an agent that does not count them")
                .isEqualTo(NodeStatus.UNAVAILABLE);
    }

    private Node numbered(Node known, long sequence, NodeStatus status) {
        return new Node(
                known.nodeId(),
                known.domain(),
                known.pool(),
                "boot-2",
                story.now(),
                status,
                known.gpus(),
                known.driverVersion(),
                sequence,
                "");
    }

    private Node inventory(NodeId node, NodeStatus status) {
        Node known = story.state().nodes().require(node).node();
        return new Node(node, known.domain(), known.pool(), "boot-2", story.now(), status, List.of());
    }

    @Test
    void anActuatorThatDidNotBindAReplicaCannotSayThatItIsGone() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = first(Owner.Serving.class);
        ActuationReport noTenant = holds(replica.gpuId(), Optional.empty());

        story.tell(new ActuationReport(
                noTenant.domain(),
                noTenant.decision(),
                "another",
                noTenant.at(),
                noTenant.outcome(),
                noTenant.gpus(),
                noTenant.tenant(),
                noTenant.timings(),
                noTenant.reason()));

        assertThat(story.state().gpus().get(replica.gpuId())).contains(replica);
    }

    private ActuationReport holds(GpuId gpu, Optional<Tenant> tenant) {
        return story.report(story.decisions().get(0).id(), Outcome.HOLDS, List.of(gpu), tenant);
    }

    @Test
    void aReplicaThatEndedByItselfIsReplaced() {
        smallCluster("deepboot").rate("chat", 1).after(ofSeconds(1));
        GpuState replica = story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Serving)
                .findFirst()
                .orElseThrow();
        Decision started = story.decisions().get(0);

        story.tell(story.report(
                started.id(),
                Outcome.RELEASED,
                List.of(replica.gpuId()),
                replica.owner().holder()));

        assertThat(story.lastKinds()).contains("serve");
        story.settled();
        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void aJobWhoseWorkerEndedByItselfGoesOnWithTheOthers() {
        lending("deepboot").after(ofSeconds(1));
        GpuState lost = story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Training)
                .findFirst()
                .orElseThrow();
        int before = story.job("a").gpus();

        story.tell(story.report(
                story.decisions().get(1).id(),
                Outcome.RELEASED,
                List.of(lost.gpuId()),
                lost.owner().holder()));

        assertThat(story.owner(lost.gpuId().value()).holder().filter(new Tenant.Job(new JobId("a"))::equals))
                .isEmpty();
        assertThat(story.job("a").gpus()).isEqualTo(before - 1);
    }
}
