package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each request of "chat" needs a prefill and a decode replica. A replica is planned with 85 % of its capacity. */
class RolesTest {
    private static ReplicaShape prefill(int gpus, double perSecond) {
        return ReplicaShape.of("in", gpus, 1, perSecond, ofSeconds(30)).as(ReplicaRole.PREFILL);
    }

    private static ReplicaShape decode(int gpus, double perSecond) {
        return ReplicaShape.of("out", gpus, 1, perSecond, ofSeconds(30)).as(ReplicaRole.DECODE);
    }

    private static InferenceService chat(Scenario story, int floor, ReplicaShape... shapes) {
        return story.serviceRecord("chat", floor).inShapes(List.of(shapes));
    }

    private static Scenario node(int gpus) {
        return Scenario.of("deepboot").node("infer", Pool.INFERENCE, gpus).actuator("one", Abilities.USUAL);
    }

    private static List<ReplicaGroup> groups(Scenario story, ReplicaRole role) {
        return ReplicaGroup.all(story.state().clusterIndex()).stream()
                .filter(group -> group.part().role() == role)
                .toList();
    }

    private static long serving(Scenario story, ReplicaRole role) {
        return groups(story, role).stream().filter(ReplicaGroup::isServing).count();
    }

    private static List<String> texts(Scenario story, String kind) {
        return story.decisions().stream()
                .filter(decision -> decision.action().kind().equals(kind))
                .map(decision -> decision.reason().text())
                .toList();
    }

    private static String last(List<String> texts) {
        return texts.get(texts.size() - 1);
    }

    @Test
    void eachRoleGetsTheReplicasThatItNeeds() {
        Scenario story = node(8);
        story.tell(chat(story, 0, prefill(2, 20), decode(2, 10)))
                .rate("chat", 10)
                .settled();

        assertThat(serving(story, ReplicaRole.PREFILL)).isEqualTo(1);
        assertThat(serving(story, ReplicaRole.DECODE)).isEqualTo(2);
        assertThat(texts(story, "serve"))
                .contains(
                        "chat is short of 1 prefill replica: 1 needed for the current load, 0 running;"
                                + " it starts 1 x in (prefill, 2 GPUs)",
                        "chat is short of 2 decode replicas: 2 needed for the current load, 0 running;"
                                + " it starts 2 x out (decode, 2 GPUs)");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aShapeOfOneGpuIsNamedSo() {
        assertThat(prefill(1, 20).inWords()).isEqualTo("in (prefill, 1 GPU)");
        assertThat(ReplicaShape.of("wide", 1, 2, 20, ofSeconds(30)).inWords()).isEqualTo("wide (2 x 1 GPU)");
    }

    @Test
    void aRoleMayHaveItsOwnFloor() {
        Scenario story = node(8);
        story.tell(chat(story, 1, prefill(1, 20), decode(1, 10))
                        .withFloors(List.of(new RoleFloor(ReplicaRole.DECODE, 3))))
                .settled();

        assertThat(serving(story, ReplicaRole.PREFILL)).isEqualTo(1);
        assertThat(serving(story, ReplicaRole.DECODE)).isEqualTo(3);
        assertThat(story.state()
                        .services()
                        .require(new ServiceId("chat"))
                        .spec()
                        .floorGpus())
                .isEqualTo(4);
    }

    /** Requests need both roles, so that replicas of one alone answer nothing. */
    @Test
    void rolesShareGpusThatAreTooFew() {
        Scenario story = node(4);
        story.tell(chat(story, 0, prefill(1, 10), decode(1, 10)))
                .rate("chat", 30)
                .settled();

        assertThat(serving(story, ReplicaRole.PREFILL)).isEqualTo(2);
        assertThat(serving(story, ReplicaRole.DECODE)).isEqualTo(2);
    }

    /** Four prefill replicas and one decode replica; three GPUs are lent. */
    private static Scenario lending(int floor, RoleFloor... floors) {
        Scenario story = node(8);
        story.tell(chat(story, floor, prefill(1, 5), decode(1, 20)).withFloors(List.of(floors)))
                .rate("chat", 16)
                .settled()
                .rigidJob("a", 3);
        for (int i = 0; i < 40 && story.count("lent") < 3; i++) {
            story.rate("chat", 16).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(3);
        assertThat(serving(story, ReplicaRole.PREFILL)).isEqualTo(4);
        return story;
    }

    @Test
    void spareReplicasOfAnotherRoleAreTakenBeforeLoans() {
        Scenario story = lending(0);

        story.tell(chat(story, 0, prefill(1, 20), decode(1, 5))).settled();

        assertThat(serving(story, ReplicaRole.PREFILL)).isEqualTo(1);
        assertThat(serving(story, ReplicaRole.DECODE)).isEqualTo(4);
        assertThat(story.count("lent")).isEqualTo(3);
        assertThat(last(texts(story, "idle")))
                .isEqualTo("chat stops replicas of its role prefill that it does not need now:"
                        + " it is short of 3 decode replicas (4 needed for the current load, 1 running)");
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aRoleKeepsItsFloorWhenAnotherIsShort() {
        RoleFloor three = new RoleFloor(ReplicaRole.PREFILL, 3);
        Scenario story = lending(0, three);

        story.tell(chat(story, 0, prefill(1, 20), decode(1, 5)).withFloors(List.of(three)));

        assertThat(story.lastKinds()).contains("idle", "reclaim");
        assertThat(serving(story, ReplicaRole.PREFILL)).isEqualTo(3);
        story.settled();
        assertThat(serving(story, ReplicaRole.DECODE)).isEqualTo(4);
        assertThat(serving(story, ReplicaRole.PREFILL)).isEqualTo(3);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aFloorIsFilledFromSpareReplicasOfAnotherRole() {
        Scenario story = lending(0);

        story.tell(chat(story, 0, prefill(1, 20), decode(1, 20))
                        .withFloors(List.of(new RoleFloor(ReplicaRole.DECODE, 4))))
                .settled();

        assertThat(serving(story, ReplicaRole.DECODE)).isEqualTo(4);
        assertThat(story.count("lent")).isEqualTo(3);
    }

    /** Three replicas of two GPUs serve or start for a floor of two, and one rests. */
    @Test
    void aWarmReplicaIsWokenForTheFloorUntilAnotherHasStarted() {
        Scenario story = node(8);
        story.tell(chat(story, 2, ReplicaShape.of("tp2", 2, 1, 20, ofSeconds(30))))
                .settled()
                .rate("chat", 45)
                .settled()
                .rate("chat", 10)
                .rate("chat", 60)
                .rate("chat", 10);
        assertThat(List.of(story.count("serving"), story.count("protected"), story.count("binding")))
                .isEqualTo(List.of(4L, 2L, 2L));
        GpuId lost = story.state().gpus().stream()
                .filter(unit -> unit.owner().isServing())
                .map(GpuState::gpuId)
                .findFirst()
                .orElseThrow();

        story.after(ofSeconds(1))
                .tell(story.report(
                        lastServe(story).id(),
                        Outcome.RELEASED,
                        List.of(lost),
                        Optional.of(new Tenant.Service(new ServiceId("chat")))));

        assertThat(serving(story, ReplicaRole.ALL)).isEqualTo(2);
        assertThat(lastServe(story).action().asServe().map(Action.Serve::warm)).contains(true);
        assertThat(lastServe(story).reason().text())
                .isEqualTo("chat waits for 1 new replica: 2 needed as its floor (1 for the current load), 1 running,"
                        + " 1 starting; it wakes 1 warm replica");
    }

    private static Decision lastServe(Scenario story) {
        return story.decisions().stream()
                .filter(decision -> decision.action().asServe().isPresent())
                .reduce((older, newer) -> newer)
                .orElseThrow();
    }

    @Test
    void aRoleLooksAheadByItsSlowestStart() {
        Scenario story = node(8);
        ReplicaShape slow = decode(1, 10)
                .starting(new StartTimes(
                        Duration.ofMinutes(5), Optional.of(ofSeconds(40)), Optional.of(Duration.ofSeconds(4))));
        story.tell(chat(story, 0, prefill(1, 10), slow)).rate("chat", 5);
        StartLead leads = new StartLead(SchedulerSettings.DEFAULTS);
        var chat = story.state().services().require(new ServiceId("chat"));
        Duration notice = SchedulerSettings.DEFAULTS.notice();

        assertThat(leads.of(chat, ReplicaRole.PREFILL)).isEqualTo(notice.plusSeconds(30));
        assertThat(leads.of(chat, ReplicaRole.DECODE)).isEqualTo(notice.plusMinutes(5));
        assertThat(leads.of(chat, ReplicaRole.DECODE, story.state().nodes(), List.of()))
                .as("its model is on no node yet")
                .isEqualTo(notice.plusMinutes(5));
        story.settled();
        assertThat(leads.of(
                        story.state().services().require(new ServiceId("chat")),
                        ReplicaRole.DECODE,
                        story.state().nodes(),
                        new ArrayList<>(ReplicaGroup.all(story.state().clusterIndex()))))
                .as("its model is on the only node")
                .isEqualTo(notice.plusSeconds(40));
    }
}
