package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Replicas of several GPUs: they start, serve, rest and end whole. A replica of "tp2" answers 20 requests/s. */
class GroupsTest {
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final ReplicaShape TP2 = ReplicaShape.of("tp2", 2, 1, 20, ofSeconds(30));
    private static final ReplicaShape TP4 = ReplicaShape.of("tp4", 4, 1, 40, ofSeconds(30));
    private static final ReplicaShape WIDE = ReplicaShape.of("wide", 2, 2, 20, ofSeconds(30));

    private static Scenario declared(Scenario story, int floor, ReplicaShape... shapes) {
        return story.tell(story.serviceRecord("chat", floor).inShapes(List.of(shapes)));
    }

    private static Scenario node(int gpus) {
        return Scenario.of("deepboot").node("infer", Pool.INFERENCE, gpus).actuator("one", Abilities.USUAL);
    }

    private static List<GpuId> gpus(String... names) {
        return Stream.of(names).map(GpuId::new).toList();
    }

    private static Decision last(Scenario story, String kind) {
        return story.decisions().stream()
                .filter(decision -> decision.action().kind().equals(kind))
                .reduce((older, newer) -> newer)
                .orElseThrow();
    }

    private static Action.Serve serve(Scenario story) {
        return last(story, "serve").action().asServe().orElseThrow();
    }

    private static Action.Idle idle(Scenario story) {
        return last(story, "idle").action().asIdle().orElseThrow();
    }

    private static Scenario reported(Scenario story, Outcome outcome, String... gpus) {
        return story.tell(story.report(last(story, "serve").id(), outcome, gpus(gpus), Optional.of(CHAT)));
    }

    private static GpuState gpu(Scenario story, String name) {
        return story.state().gpus().require(new GpuId(name));
    }

    @Test
    void oneDecisionStartsAReplicaOnAllItsGpus() {
        Scenario story = declared(node(4), 0, TP2).rate("chat", 10);

        Decision decision = last(story, "serve");
        assertThat(serve(story).gpus()).isEqualTo(gpus("infer-g0", "infer-g1"));
        assertThat(serve(story).replicas())
                .containsExactly(new ReplicaUnits(
                        ReplicaId.of(decision.id(), 0), "tp2", TP2.role(), gpus("infer-g0", "infer-g1")));
        assertThat(decision.reason().text())
                .isEqualTo("chat is short of 1 replica: 1 needed for the current load, 0 running;"
                        + " it starts 1 x tp2 (2 GPUs)");
    }

    @Test
    void aReplicaServesOnceAllItsGpusAreBound() {
        Scenario story = declared(node(4), 0, TP2).rate("chat", 10);

        reported(story, Outcome.BOUND, "infer-g0");
        assertThat(story.count("binding")).isEqualTo(2);
        assertThat(gpu(story, "infer-g0").part().orElseThrow().here()).isTrue();
        assertThat(gpu(story, "infer-g1").part().orElseThrow().here()).isFalse();
        reported(story, Outcome.BOUND, "infer-g0");
        assertThat(story.count("serving")).isZero();
        reported(story, Outcome.BOUND, "infer-g1");

        assertThat(story.count("serving")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aReplicaThatIsNotWholeByItsDeadlineIsUndone() {
        Scenario story = declared(node(4), 0, TP2).rate("chat", 10);
        reported(story, Outcome.BOUND, "infer-g0");

        story.after(ofSeconds(61));

        Action.Idle idle = idle(story);
        assertThat(idle.gpus()).isEqualTo(gpus("infer-g0", "infer-g1"));
        assertThat(last(story, "idle").reason().is(ReasonCode.TIMEOUT)).isTrue();
        assertThat(gpu(story, "infer-g0").failedBinds()).isZero();
        assertThat(gpu(story, "infer-g1").failedBinds()).isEqualTo(1);
        assertThat(story.count("serving")).isZero();
    }

    /** Each starts its own processes, so a replica would be two that know nothing of each other. */
    @Test
    void noReplicaIsOverMachinesWhoseActuatorsStartProcesses() {
        Scenario story =
                Scenario.of("deepboot").node("infer-a", Pool.INFERENCE, 2).node("infer-b", Pool.INFERENCE, 2);
        for (String node : List.of("infer-a", "infer-b")) {
            story.tell(new ActuatorDescription(
                    "on-" + node, Scenario.DOMAIN, story.now(), "process", List.of(new NodeId(node)), Abilities.USUAL));
        }

        declared(story, 0, WIDE).rate("chat", 10);
        assertThat(story.count("free")).isEqualTo(4);

        declared(story, 0, TP2).rate("chat", 10);
        assertThat(serve(story).gpus()).hasSize(2);
    }

    @Test
    void oneOfTwoActuatorsFailsAndNothingStays() {
        Scenario story = Scenario.of("deepboot")
                .node("infer-a", Pool.INFERENCE, 2)
                .node("infer-b", Pool.INFERENCE, 2)
                .actuator("a", Abilities.USUAL, "infer-a")
                .actuator("b", Abilities.USUAL, "infer-b");
        declared(story, 0, WIDE).rate("chat", 10);
        assertThat(serve(story).gpus()).hasSize(4);

        reported(story, Outcome.BOUND, "infer-a-g0", "infer-a-g1");
        reported(story, Outcome.FAILED, "infer-b-g0", "infer-b-g1");

        assertThat(story.lastKinds()).containsExactly("idle");
        assertThat(idle(story).gpus()).isEqualTo(gpus("infer-a-g0", "infer-a-g1"));
        assertThat(last(story, "idle").reason().is(ReasonCode.LOST)).isTrue();
        assertThat(story.count("serving")).isZero();
        assertThat(story.count("releasing")).isEqualTo(2);
        assertThat(ReplicaGroup.all(story.state().clusterIndex())).isEmpty();
    }

    @Test
    void aLostGpuStopsTheRestOfTheReplica() {
        Scenario story = declared(node(4), 0, TP2).rate("chat", 10).settled().after(ofSeconds(1));
        assertThat(story.count("serving")).isEqualTo(2);

        reported(story, Outcome.RELEASED, "infer-g0");

        assertThat(story.lastKinds()).contains("idle", "serve");
        assertThat(idle(story).gpus()).isEqualTo(gpus("infer-g1"));
        assertThat(idle(story).replicas()).hasSize(1);
        assertThat(last(story, "idle").reason().text())
                .isEqualTo("chat stops 1 replica on 1 GPU: 1 GPU lost (infer-g0: its replica ended),"
                        + " and a replica works only whole");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void replicasRestAndWakeWhole() {
        Scenario story = declared(node(4), 0, TP2).rate("chat", 30).settled();
        assertThat(story.count("serving")).isEqualTo(4);

        story.rate("chat", 10);
        assertThat(story.count("protected")).isEqualTo(2);
        story.rate("chat", 30);

        assertThat(serve(story).warm()).isTrue();
        assertThat(serve(story).replicas()).hasSize(1);
        assertThat(serve(story).gpus()).hasSize(2);
        assertThat(story.count("serving")).isEqualTo(4);
    }

    @Test
    void aFloorCountsReplicas() {
        Scenario story = declared(node(4), 2, TP2).settled();

        assertThat(story.count("serving")).isEqualTo(4);
        assertThat(serve(story).replicas()).hasSize(2);
    }

    /** Its actuator would start a replica on each GPU. */
    @Test
    void nothingStartsWhereTheActuatorDoesNotDescribeItself() {
        Scenario story = Scenario.of("deepboot").node("infer", Pool.INFERENCE, 4);
        declared(story, 0, TP2).rate("chat", 10);

        assertThat(story.count("free")).isEqualTo(4);
    }

    private static Scenario lent() {
        Scenario story = declared(node(4), 0, TP2).rate("chat", 0).settled().rigidJob("a", 4);
        for (int i = 0; i < 40 && story.count("lent") < 4; i++) {
            story.rate("chat", 0).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(4);
        return story;
    }

    @Test
    void loansOfOneNodeComeBackForAReplica() {
        Scenario story = lent();

        story.rate("chat", 10);
        assertThat(story.lastKinds()).contains("reclaim");
        story.settled();

        assertThat(story.count("serving")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void promisesEndWithTheNeed() {
        Scenario story = lent().rate("chat", 10);
        assertThat(story.state().promises()).hasSize(2);

        story.rate("chat", 0);

        assertThat(story.state().promises()).isEmpty();
    }

    @Test
    void aReplicaInAnOldShapeServesUntilOthersDo() {
        Scenario story = declared(node(4), 1, TP2).settled().rate("chat", 5);

        story.tell(story.serviceRecord("chat", 1));
        assertThat(story.count("binding")).isEqualTo(1);
        assertThat(story.count("serving")).isEqualTo(2);
        story.settled();

        assertThat(story.count("protected")).isEqualTo(2);
        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Two GPUs are free, but on two nodes. */
    @Test
    void noReplicaStartsOnGpusOfSeveralNodesThatItsShapeForbids() {
        Scenario story = Scenario.of("deepboot")
                .node("infer-a", Pool.INFERENCE, 1)
                .node("infer-b", Pool.INFERENCE, 1)
                .actuator("one", Abilities.USUAL);
        declared(story, 0, TP2).rate("chat", 10);

        assertThat(story.count("free")).isEqualTo(2);
    }

    /** Four GPUs have two replicas that serve; a new replica needs all of them. */
    @Test
    void replicasInAnOldShapeMakeRoomForTheFloorOfTheNewOne() {
        Scenario story = declared(node(4), 2, TP2).settled();

        declared(story, 1, TP4);

        assertThat(idle(story).replicas()).hasSize(2);
        assertThat(last(story, "idle").reason().text())
                .isEqualTo("chat stops replicas in shapes that it does not declare any more: it is short of 1 replica"
                        + " (1 needed as its floor (0 for the current load), 0 running,"
                        + " 2 in shapes that it does not declare)");
        story.settled();
        assertThat(story.count("serving")).isEqualTo(4);
        assertThat(serve(story).replicas()).extracting(ReplicaUnits::shape).containsExactly("tp4");
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Each old replica is taken to answer 20 requests/s, of which 17 count. */
    @Test
    void oldReplicasGoOneAfterTheOtherAndTheRestAnswersTheLoad() {
        Scenario story = declared(node(8), 4, TP2).settled().rate("chat", 30);

        declared(story, 2, ReplicaShape.of("new", 2, 1, 20, ofSeconds(30)));

        for (int replaced = 1; replaced <= 2; replaced++) {
            assertThat(story.count("releasing")).isEqualTo(2);
            assertThat(story.count("serving")).as("while one is replaced").isEqualTo(6);
            story.actuated();
            assertThat(story.count("binding")).isEqualTo(2);
            assertThat(story.count("serving")).isEqualTo(6);
            story.actuated();
        }
        assertThat(story.count("releasing")).isZero();
        assertThat(story.count("serving")).isEqualTo(4);
        assertThat(story.count("protected")).isEqualTo(4);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** The load needs both old replicas, and all GPUs are in use. */
    @Test
    void aFloorIsReachedThoughTheLoadNeedsAllReplicas() {
        Scenario story = declared(node(4), 1, TP2).settled().rate("chat", 30).settled();

        declared(story, 1, ReplicaShape.of("new", 2, 1, 20, ofSeconds(30)));

        assertThat(List.of(story.count("serving"), story.count("releasing"))).isEqualTo(List.of(2L, 2L));
        story.settled();
        assertThat(groups(story, "new"))
                .as("beyond the floor the load comes first")
                .isEqualTo(1);
        assertThat(groups(story, "tp2")).isEqualTo(1);
        story.rate("chat", 10).settled();
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void oldReplicasOfOneGpuMakeRoomToo() {
        Scenario story = node(4).service("chat", 4).settled();

        declared(story, 2, TP2);

        assertThat(List.of(story.count("serving"), story.count("releasing"))).isEqualTo(List.of(2L, 2L));
        story.settled();
        assertThat(groups(story, "tp2")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void replicasOfSeveralGpusMakeRoomForReplicasOfOneGpu() {
        Scenario story = declared(node(4), 2, TP2).settled();

        story.service("chat", 2);

        assertThat(List.of(story.count("serving"), story.count("releasing"))).isEqualTo(List.of(2L, 2L));
        assertThat(last(story, "idle").reason().text())
                .isEqualTo(
                        "chat stops a replica in a shape that it does not declare any more: it is short of 2 replicas"
                                + " (2 needed as its floor (0 for the current load), 0 running)");
        story.settled();
        assertThat(story.count("serving")).isEqualTo(2);
        assertThat(groups(story, "tp2")).isEqualTo(1);
        assertThat(story.count("protected")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** The quota of its queue has room for the replicas of before only. */
    @Test
    void oldReplicasMakeRoomInAQuotaToo() {
        Scenario story = node(4).queue("q", 2);
        story.tell(story.serviceRecord("chat", 1).in(new QueueId("q")).inShapes(List.of(TP2)))
                .settled();

        story.tell(story.serviceRecord("chat", 1)
                        .in(new QueueId("q"))
                        .inShapes(List.of(ReplicaShape.of("new", 2, 1, 20, ofSeconds(30)))))
                .settled();

        assertThat(groups(story, "new")).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    private static long groups(Scenario story, String shape) {
        return ReplicaGroup.all(story.state().clusterIndex()).stream()
                .filter(group -> group.isWarm() && group.part().shape().equals(shape))
                .count();
    }
}
