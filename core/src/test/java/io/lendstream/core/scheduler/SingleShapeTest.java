package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A service with a single shape of one GPU is one without shapes, whose start times count too. */
class SingleShapeTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Duration NOTICE = SchedulerSettings.DEFAULTS.notice();

    private final Scenario story =
            Scenario.of("deepboot").node("infer-a", Pool.INFERENCE, 2).node("infer-b", Pool.INFERENCE, 2);

    private static ReplicaShape shape(Optional<Duration> cached, Optional<Duration> asleep) {
        return ReplicaShape.of("one", 1, 1, 20, ofSeconds(60)).starting(new StartTimes(ofSeconds(60), cached, asleep));
    }

    private static ReplicaShape cachedIn(Duration time) {
        return shape(Optional.of(time), Optional.empty());
    }

    private static ReplicaShape awakeIn(Duration time) {
        return shape(Optional.empty(), Optional.of(time));
    }

    private InferenceService chat(int floor, ReplicaShape shape) {
        return story.serviceRecord("chat", floor).inShapes(List.of(shape));
    }

    private ServiceState service() {
        return story.state().services().require(CHAT);
    }

    private Duration lead() {
        var builder = new StepBuilder(story.state(), story.log().get(story.log().size() - 1), StepListener.NONE);
        return new StartLead(SchedulerSettings.DEFAULTS)
                .ofSingle(builder, service().spec(), service().spec().warmUp());
    }

    @Test
    void onlyStartTimesStayInTheShape() {
        InferenceService declared =
                chat(1, cachedIn(ofSeconds(10))).withFloors(List.of(new RoleFloor(ReplicaRole.ALL, 3)));

        InferenceService plain = declared.plain();

        assertThat(declared.hasGroups()).isFalse();
        assertThat(plain.hasGroups()).isFalse();
        assertThat(plain.replicaCapacityPerSecond()).isEqualTo(20);
        assertThat(plain.warmUp()).isEqualTo(ofSeconds(60));
        assertThat(plain.floorReplicas()).isEqualTo(3);
        assertThat(plain.singleStarts().flatMap(StartTimes::cached)).contains(ofSeconds(10));
        assertThat(plain.hardware().shapes().get(0).perSecond()).isEmpty();
        assertThat(plain.plain()).isEqualTo(plain);
    }

    @Test
    void nothingStaysOfAShapeThatOnlyStartsCold() {
        assertThat(chat(1, awakeIn(Duration.ZERO)).plain().hardware().shapes()).isEmpty();
        assertThat(chat(1, ReplicaShape.of("one", 1, 1, 20, ofSeconds(60)))
                        .plain()
                        .hardware()
                        .shapes())
                .isEmpty();
    }

    @Test
    void theTimeToWakeCountsInTheLead() {
        story.tell(chat(0, awakeIn(ofMinutes(2))));
        assertThat(lead()).isEqualTo(NOTICE.plus(ofMinutes(2)));

        story.tell(chat(0, awakeIn(ofSeconds(5))));
        assertThat(lead()).isEqualTo(NOTICE.plus(ofSeconds(60)));
    }

    @Test
    void theTimeFromCacheCountsOnceAReplicaIsOnEveryNodeOfInference() {
        story.tell(chat(3, cachedIn(ofSeconds(10))));
        assertThat(lead()).as("none is up").isEqualTo(NOTICE.plus(ofSeconds(60)));

        story.settled();
        assertThat(lead()).isEqualTo(NOTICE.plus(ofSeconds(10)));

        story.node("infer-c", Pool.INFERENCE, 1);
        assertThat(lead()).isEqualTo(NOTICE.plus(ofSeconds(60)));
    }

    @Test
    void moreReplicasAreStartedAheadIfTheyTakeLongerToWake() {
        Scenario ahead = Scenario.of("lendstream").node("infer-a", Pool.INFERENCE, 4);
        ahead.tell(ahead.serviceRecord("chat", 0).inShapes(List.of(awakeIn(ofSeconds(20)))));
        ahead.rate("chat", 10).settled().tell(rising(ahead, ofMinutes(2), ofMinutes(10)));
        assertThat(replicas(ahead)).isEqualTo(1);

        ahead.tell(ahead.serviceRecord("chat", 0).inShapes(List.of(awakeIn(ofMinutes(15)))));
        assertThat(replicas(ahead)).isEqualTo(3);
    }

    /** The report frees no GPU, but the scheduler need not look as far ahead any more. */
    @Test
    void replicasRestAsSoonAsOneIsUpOnEveryNode() {
        Scenario ahead =
                Scenario.of("lendstream").node("infer-a", Pool.INFERENCE, 2).node("infer-b", Pool.INFERENCE, 2);
        ahead.tell(ahead.serviceRecord("chat", 0)
                        .inShapes(List.of(ReplicaShape.of("one", 1, 1, 20, ofSeconds(90))
                                .starting(new StartTimes(ofSeconds(90), Optional.of(ofSeconds(2)), Optional.empty())))))
                .after(ofSeconds(30))
                .rate("chat", 10)
                .tell(rising(ahead, ofMinutes(1), ofMinutes(2)));
        assertThat(replicas(ahead)).isEqualTo(3);

        Decision start = ahead.last().get(0);
        bound(ahead, start, "infer-a-g0", "infer-a-g1");
        assertThat(replicas(ahead)).isEqualTo(3);
        bound(ahead, start, "infer-b-g0");

        assertThat(replicas(ahead)).isEqualTo(1);
    }

    private static void bound(Scenario story, Decision start, String... gpus) {
        story.tell(story.report(start.id(), Outcome.BOUND, Moment.gpus(gpus), Optional.of(new Tenant.Service(CHAT))));
    }

    /** 10 requests per second in a minute, and 50 later. */
    private static DemandForecast rising(Scenario story, Duration low, Duration high) {
        return new DemandForecast(
                CHAT,
                Scenario.DOMAIN,
                story.state().now(),
                ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(low, 0, 10, 10, 10), new HorizonQuantiles(high, 0, 50, 50, 50)),
                Optional.empty(),
                Optional.empty());
    }

    private static long replicas(Scenario story) {
        return story.state().gpus().stream()
                .filter(unit -> unit.owner().isActiveReplica())
                .count();
    }

    @Test
    void aSleepingReplicaHasTwiceItsTimeToWake() {
        story.tell(chat(0, awakeIn(ofMinutes(2)))).rate("chat", 5).settled();
        story.rate("chat", 0).after(ofMinutes(2));
        assertThat(story.owner("infer-a-g0").isSleeping()).isTrue();

        story.rate("chat", 5);

        Decision wake = story.last().get(0);
        assertThat(wake.action())
                .isInstanceOfSatisfying(
                        Action.Serve.class, serve -> assertThat(serve.warm()).isTrue());
        assertThat(Duration.between(wake.at(), wake.deadline())).isEqualTo(ofMinutes(4));
    }

    @Test
    void nodesWithItsModelComeFirst() {
        story.tell(chat(0, cachedIn(ofSeconds(10)))).service("plain", 0);

        assertThat(taken(service(), "infer-b")).isEqualTo(new GpuId("infer-b-g0"));
        assertThat(taken(service())).as("on no node").isEqualTo(new GpuId("infer-a-g0"));
        assertThat(taken(story.state().services().require(new ServiceId("plain")), "infer-b"))
                .isEqualTo(new GpuId("infer-a-g0"));
    }

    private GpuId taken(ServiceState service, String... cached) {
        List<GpuState> free = story.state().gpus().stream()
                .filter(unit -> unit.pool() == Pool.INFERENCE)
                .toList();
        Set<NodeId> nodes = Set.of(cached).isEmpty() ? Set.of() : Set.of(new NodeId(cached[0]));
        return new FreeUnits(free.iterator(), (any, unit) -> true, any -> nodes)
                .take(service)
                .orElseThrow()
                .gpuId();
    }
}
