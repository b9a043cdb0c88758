package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ReplicaGroup;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Replicas of several GPUs among changed declarations, whole nodes, slots, other services and advice. */
class GroupFaultsTest {
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));

    private static Scenario node(int gpus) {
        return node(gpus, Abilities.USUAL);
    }

    private static Scenario node(int gpus, Abilities abilities) {
        return Scenario.of("deepboot").node("infer", Pool.INFERENCE, gpus).actuator("one", abilities);
    }

    private static ReplicaShape shape(String name, int gpusPerNode, int nodes) {
        return ReplicaShape.of(name, gpusPerNode, nodes, 20, ofSeconds(30));
    }

    private static Scenario declared(Scenario story, int floor, ReplicaShape... shapes) {
        return story.tell(story.serviceRecord("chat", floor).inShapes(List.of(shapes)));
    }

    private static Scenario at(Scenario story, double perSecond, int rounds) {
        for (int i = 0; i < rounds; i++) {
            story.rate("chat", perSecond).settled().after(ofSeconds(15)).settled();
        }
        return story;
    }

    private static Decision last(Scenario story, String kind) {
        return story.decisions().stream()
                .filter(decision -> decision.action().kind().equals(kind))
                .reduce((older, newer) -> newer)
                .orElseThrow();
    }

    private static Scenario lent(Scenario story, int gpus) {
        story.rigidJob("a", gpus);
        for (int i = 0; i < 60 && story.count("lent") < gpus; i++) {
            at(story, 0, 1);
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(gpus);
        return story;
    }

    private static long servingIn(Scenario story, String shape) {
        return story.state().gpus().stream()
                .filter(gpu -> gpu.owner().isServing()
                        && gpu.part().filter(part -> part.shape().equals(shape)).isPresent())
                .count();
    }

    @Test
    void sleepingReplicasOfAShapeThatIsNotDeclaredAnyMoreMakeRoom() {
        Scenario story = declared(node(2), 0, shape("old", 2, 1));
        at(story, 10, 1);
        assertThat(servingIn(story, "old")).isEqualTo(2);

        declared(story, 0, shape("new", 2, 1));
        at(story, 0, 80);
        assertThat(story.count("sleeping")).isEqualTo(2);
        at(story, 10, 4);

        assertThat(servingIn(story, "new")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void sleepingReplicasOfAServiceThatDeclaresNoShapesAnyMoreMakeRoom() {
        Scenario story = declared(node(2), 0, shape("old", 2, 1));
        at(story, 10, 1);

        story.service("chat", 0);
        at(story, 0, 80);
        assertThat(story.count("sleeping")).isEqualTo(2);
        at(story, 5, 4);

        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** The idle GPU of the node cannot be used before the job has left it. */
    @Test
    void aNodeThatIsLentAsAWholeComesBackWithItsIdleGpus() {
        Scenario story = node(4, Abilities.USUAL.withGranularity(Granularity.NODE));
        declared(story, 0, shape("tp4", 4, 1)).rate("chat", 0);
        lent(story, 3);

        at(story, 10, 4);

        assertThat(servingIn(story, "tp4")).isEqualTo(4);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void onlyIdleGpusOfANodeThatIsLentAsAWholeAreEnoughToTakeItBack() {
        Scenario story = node(4, Abilities.USUAL.withGranularity(Granularity.NODE));
        declared(story, 0, shape("tp2", 2, 1)).rate("chat", 0);
        lent(story, 2);

        at(story, 10, 4);

        assertThat(servingIn(story, "tp2")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void severalReplicasOfASmallShapeStandInForALargeOneAtOnce() {
        Scenario story = node(3).tell(node(3).serviceRecord("chat", 0)
                .inShapes(List.of(
                        ReplicaShape.of("large", 4, 1, 40, ofSeconds(30)),
                        ReplicaShape.of("small", 1, 1, 5, ofSeconds(30)))));

        story.rate("chat", 12);

        assertThat(last(story, "serve").action().asServe().orElseThrow().replicas())
                .hasSize(3);
    }

    /** A service with a floor waits for the GPU that is about to be free; the other one needs it above its floor. */
    @Test
    void aReplicaOfSeveralGpusLeavesWhatIsComingToServicesThatWaitedBefore() {
        Scenario story =
                declared(node(2), 0, shape("tp2", 2, 1)).rate("chat", 0).job("a", 2);
        for (int i = 0; i < 60 && story.count("lent") < 2; i++) {
            at(story, 0, 1);
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isEqualTo(2);

        story.service("search", 1);
        assertThat(story.count("releasing")).isEqualTo(1);
        story.rate("chat", 10);
        for (Decision decision : List.copyOf(story.decisions())) {
            story.answers(decision).forEach(story::tell);
        }
        story.after(ofSeconds(1)).settled();

        assertThat(story.state().gpus().stream()
                        .filter(gpu -> gpu.isHeldBy(new Tenant.Service(new ServiceId("search"))))
                        .count())
                .isEqualTo(1);
    }

    /** One service waits for the GPUs above its floor when another one of the same kind comes under its own. */
    @Test
    void aPromiseAboveAFloorGivesWayToAFloor() {
        Scenario story = declared(node(2), 0, shape("tp2", 2, 1)).rate("chat", 0);
        lent(story, 2).rate("chat", 10);
        Decision back = last(story, "reclaim");
        assertThat(story.count("releasing")).isEqualTo(2);

        story.tell(story.serviceRecord("vision", 1).inShapes(List.of(shape("tp2", 2, 1))));
        story.answers(back).forEach(story::tell);

        assertThat(last(story, "serve").action().asServe().orElseThrow().service())
                .isEqualTo(new ServiceId("vision"));
    }

    @Test
    void adviceForAShapeThatLiesOtherwiseNowIsNotApproved() {
        Scenario story = declared(node(4), 0, shape("tp4", 4, 1))
                .settled()
                .control(ControlCommand.Kind.ADVISORY_ON)
                .rate("chat", 10)
                .after(ofSeconds(60));
        Decision advice = last(story, "serve");
        assertThat(advice.advisory()).isTrue();

        declared(story, 0, shape("tp4", 2, 2)).approve(advice.id());

        assertThat(story.lastKinds()).containsExactly("hold");
        assertThat(story.verdict().violations())
                .filteredOn(violation -> violation.rule().equals("group"))
                .isEmpty();
    }

    /** Two GPUs have a replica that serves; the service declares another shape of two GPUs. */
    private Scenario advisedToReplaceAReplica() {
        Scenario story = declared(node(2), 1, shape("old", 2, 1)).settled().control(ControlCommand.Kind.ADVISORY_ON);
        return declared(story, 1, shape("new", 2, 1)).after(ofSeconds(60));
    }

    @Test
    void adviceToReplaceReplicasOfAnOldShapeCanBeApproved() {
        Scenario story = advisedToReplaceAReplica();
        Decision stop = last(story, "idle");
        assertThat(stop.advisory()).isTrue();
        assertThat(story.count("serving")).isEqualTo(2);

        story.approve(stop.id());

        assertThat(story.lastKinds()).containsExactly("idle");
        assertThat(story.last().get(0).reason().code()).isEqualTo("approved");
        assertThat(story.count("releasing")).isEqualTo(2);

        story.settled().after(ofSeconds(60));
        Decision start = last(story, "serve");
        assertThat(start.advisory()).isTrue();
        story.approve(start.id()).settled();

        assertThat(ReplicaGroup.all(story.state().clusterIndex()))
                .singleElement()
                .satisfies(group -> assertThat(group.part().shape()).isEqualTo("new"))
                .satisfies(group -> assertThat(group.isServing()).isTrue());
    }

    @Test
    void adviceToReplaceThemDoesNotStandOnceTheShapeIsDeclaredAgain() {
        Scenario story = advisedToReplaceAReplica();
        Decision stop = last(story, "idle");

        declared(story, 1, shape("old", 2, 1)).approve(stop.id());

        assertThat(story.lastKinds()).containsExactly("hold");
        assertThat(story.count("serving")).isEqualTo(2);
    }

    @Test
    void adviceToStopTheRestOfAReplicaCanBeApprovedUnderTheFloor() {
        Scenario story = declared(node(2), 1, shape("tp2", 2, 1)).settled().control(ControlCommand.Kind.ADVISORY_ON);
        Decision start = last(story, "serve");
        story.after(ofSeconds(1))
                .tell(story.report(start.id(), Outcome.RELEASED, List.of(new GpuId("infer-g0")), Optional.of(CHAT)))
                .after(ofSeconds(120));
        Decision advice = last(story, "idle");
        assertThat(advice.advisory()).isTrue();

        story.approve(advice.id());

        assertThat(story.lastKinds()).containsExactly("idle");
        assertThat(story.count("releasing")).isEqualTo(1);
    }

    /** The report of the failure is the first event after the deadline. */
    @Test
    void aReplicaThatHasLostAPartIsNotSaidToBeLate() {
        Scenario story = declared(node(2), 0, shape("tp2", 2, 1)).rate("chat", 10);
        Decision start = last(story, "serve");
        story.tell(story.report(start.id(), Outcome.BOUND, List.of(new GpuId("infer-g0")), Optional.of(CHAT)));

        story.withoutTicks(ofSeconds(61))
                .tell(story.report(start.id(), Outcome.FAILED, List.of(new GpuId("infer-g1")), Optional.of(CHAT)));

        assertThat(last(story, "idle").reason().is(ReasonCode.LOST)).isTrue();
    }

    /** Before it took the decision, the actuator found nothing on the GPU, and says so twice. */
    @Test
    void aRepeatedOldReportFreesNoPartThatIsBoundSince() {
        Scenario story = declared(node(2), 0, shape("tp2", 2, 1)).rate("chat", 10);
        Decision start = last(story, "serve");
        List<GpuId> first = List.of(new GpuId("infer-g0"));
        ActuationReport nothing = story.after(ofSeconds(1)).report(start.id(), Outcome.HOLDS, first, Optional.empty());
        story.tell(nothing).after(ofSeconds(1));
        story.tell(story.report(start.id(), Outcome.BOUND, first, Optional.of(CHAT)));

        story.tell(nothing);
        story.tell(story.report(start.id(), Outcome.BOUND, List.of(new GpuId("infer-g1")), Optional.of(CHAT)));

        assertThat(story.count("serving")).isEqualTo(2);
    }

    /** Two replicas start by one decision; a report on the first one is repeated before the second one is whole. */
    @Test
    void aRepeatedReportOfASlotBindsNoPartOfAnotherReplica() {
        Scenario story = declared(
                        node(4, Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NODE)), 0, shape("tp2", 2, 1))
                .rate("chat", 30);
        Decision start = last(story, "serve");
        assertThat(start.action().asServe().orElseThrow().replicas()).hasSize(2);
        placed(story, start, "infer-g0", "infer-g1");
        assertThat(story.count("serving")).isEqualTo(2);

        placed(story, start, "infer-g0");
        placed(story, start, "infer-g3");

        assertThat(story.count("serving")).isEqualTo(2);
        placed(story, start, "infer-g2");
        assertThat(story.count("serving")).isEqualTo(4);
    }

    /** A controller stops another replica than the one that was to go, on another node, GPU by GPU. */
    @Test
    void noGpuIsLostIfAControllerStopsAnotherReplica() {
        Scenario story = Scenario.of("deepboot")
                .node("infer-a", Pool.INFERENCE, 2)
                .node("infer-b", Pool.INFERENCE, 2)
                .actuator("one", Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NOTHING));
        declared(story, 0, shape("tp2", 2, 1));
        at(story, 30, 1);
        assertThat(story.count("serving")).isEqualTo(4);
        at(story, 0, 80);
        assertThat(story.count("sleeping")).isEqualTo(4);
        story.service("search", 2);
        Decision stop = last(story, "idle");
        List<GpuId> asked = stop.action().gpus();
        String other = asked.get(0).value().startsWith("infer-a") ? "infer-b" : "infer-a";
        assertThat(asked).hasSize(2).noneMatch(gpu -> gpu.value().startsWith(other));
        story.after(ofSeconds(1));

        for (int i = 0; i < 2; i++) {
            UnitPlacement place = UnitPlacement.on(new GpuId(other + "-g" + i), asked.get(i), Optional.empty());
            story.tell(story.report(stop.id(), Outcome.RELEASED, List.of(asked.get(i)), Optional.of(CHAT))
                    .with(List.of(place)));
        }
        for (int round = 0; round < 5; round++) {
            List.copyOf(story.decisions()).stream()
                    .filter(decision -> !decision.id().equals(stop.id()))
                    .forEach(decision -> story.answers(decision).forEach(story::tell));
        }
        story.after(ofSeconds(200));

        assertThat(story.count("quarantined")).isZero();
    }

    @Test
    void aReportThatKnowsThePlaceOfOnePartBindsTheOtherOneToo() {
        Scenario story = declared(
                        node(4, Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NODE)), 0, shape("tp2", 2, 1))
                .rate("chat", 10);
        GpuId one = new GpuId("infer-g0");
        GpuId two = new GpuId("infer-g1");

        story.tell(story.report(last(story, "serve").id(), Outcome.BOUND, List.of(one, two), Optional.of(CHAT))
                .with(List.of(
                        UnitPlacement.on(two, one, Optional.empty()), UnitPlacement.unknown(two, Optional.empty()))));

        assertThat(story.count("serving")).isEqualTo(2);
    }

    private static void placed(Scenario story, Decision start, String... units) {
        List<GpuId> gpus = Stream.of(units).map(GpuId::new).toList();
        ActuationReport report = story.report(start.id(), Outcome.BOUND, gpus, Optional.of(CHAT));
        story.tell(report.with(gpus.stream()
                .map(unit -> UnitPlacement.unknown(unit, Optional.empty()))
                .toList()));
    }
}
