package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RepartitioningTest {
    private Scenario story = story(true);

    private static Scenario story(boolean repartition) {
        return new Scenario(new Scheduler(
                Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withRepartition(repartition), Slices.LATENCIES));
    }

    /** Two GPUs, cut so, and a service that asks for some requests per second. */
    private Scenario cut(String first, String second, double perSecond) {
        story.service("chat", 0).rate("chat", perSecond);
        story.migNode("cut", Pool.INFERENCE, first, second);
        return story.after(ofSeconds(31)).rate("chat", perSecond);
    }

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }

    private Decision repartition() {
        return story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Repartition)
                .findFirst()
                .orElseThrow();
    }

    private List<String> places() {
        return ((Action.Repartition) repartition().action()).profiles();
    }

    private String gpu() {
        return repartition().action().gpus().get(0).value();
    }

    private void inventory() {
        String places = String.join(" ", places());
        story.migNode(
                "cut",
                Pool.INFERENCE,
                gpu().equals("cut-g0") ? places : "7g.80gb@0",
                gpu().equals("cut-g1") ? places : "7g.80gb@0");
    }

    @Test
    void aServiceThatDeclaresShapesLeavesThePlan() {
        cut("7g.80gb@0", "7g.80gb@0", 300);
        inventory();
        story.settled();
        long serving = story.count("serving");
        assertThat(serving).isPositive();

        story.tell(story.serviceRecord("chat", 0).inShapes(List.of(ReplicaShape.of("tp2", 2, 1, 400, ofSeconds(30)))));
        story.after(ofSeconds(31)).rate("chat", 300);

        assertThat(story.state().slices().orElseThrow().services()).isEmpty();
        assertThat(story.count("serving")).isEqualTo(serving);
    }

    @Test
    void cutsAGpuForAServiceWhoseLatencyIsKnown() {
        cut("7g.80gb@0", "7g.80gb@0", 300);

        assertThat(story.count("recutting")).isEqualTo(2);
        assertThat(story.owner(gpu() + "/0:8")).isInstanceOf(Owner.Recutting.class);
        assertThat(places()).hasSize(1);
        String profile = places().get(0).split("@", -1)[0];
        assertThat(repartition().reason().text()).contains("is cut into 1 × " + profile + " for chat");
    }

    @Test
    void servesOnTheInstanceOnceTheNodeReportsIt() {
        cut("7g.80gb@0", "7g.80gb@0", 300);

        inventory();

        assertThat(story.lastKinds()).containsExactly("serve");
        story.settled();
        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.count("recutting")).isZero();
    }

    @Test
    void takesAnInstanceThatFitsAsItIs() {
        cut("1g.20gb@6 1g.10gb@0", "", 300);
        story.settled();

        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void anInventoryFromBeforeTheCutChangesNothing() {
        cut("7g.80gb@0", "7g.80gb@0", 300);

        story.migNode("cut", Pool.INFERENCE, "7g.80gb@0", "7g.80gb@0");

        assertThat(story.count("recutting")).isEqualTo(2);
    }

    @Test
    void aRefusedCutLeavesTheGpuAsItWasAndIsTriedAgainLater() {
        cut("7g.80gb@0", "7g.80gb@0", 300);

        story.tell(story.report(repartition().id(), Outcome.REJECTED, List.of(), Optional.empty()));

        assertThat(story.count("recutting")).isZero();
        assertThat(story.owner(gpu() + "/0:8")).isInstanceOf(Owner.Free.class);
        for (int i = 0; i < 25; i++) {
            story.after(ofSeconds(15)).rate("chat", 300);
        }
        assertThat(story.decisions().stream().filter(each -> each.action() instanceof Action.Repartition))
                .hasSize(2);
        story.tell(story.report(
                story.decisions().get(story.decisions().size() - 1).id(),
                Outcome.APPLIED,
                List.of(),
                Optional.empty()));
    }

    @Test
    void unitsOfAGpuThatIsNotSeenCutInTimeAreQuarantined() {
        cut("7g.80gb@0", "7g.80gb@0", 300);

        for (int i = 0; i < 9; i++) {
            story.after(ofSeconds(15)).rate("chat", 300);
        }

        assertThat(story.owner(gpu() + "/0:8")).isInstanceOf(Owner.Quarantined.class);
    }

    @Test
    void nothingIsCutWhileFrozen() {
        story.control(ControlCommand.Kind.FREEZE);

        cut("7g.80gb@0", "7g.80gb@0", 300);

        assertThat(story.decisions()).noneMatch(decision -> decision.action() instanceof Action.Repartition);
    }

    @Test
    void cutsAreOnlyAdviceWhereAllDecisionsAre() {
        story.control(ControlCommand.Kind.ADVISORY_ON);

        cut("7g.80gb@0", "7g.80gb@0", 300);
        story.after(ofMinutes(1));

        assertThat(story.decisions()).allMatch(Decision::advisory);
        assertThat(story.count("free")).isEqualTo(2);
    }

    @Test
    void nothingIsCutUnlessSwitchedOn() {
        story = story(false);

        cut("7g.80gb@0", "7g.80gb@0", 300);

        assertThat(story.decisions()).isEmpty();
    }

    @Test
    void servicesOfUnknownLatencyAreServedOnWholeGpusOnly() {
        story.service("unheard", 0).rate("unheard", 8);
        story.migNode("cut", Pool.INFERENCE, "7g.80gb@0").node("whole", Pool.INFERENCE, 1);
        story.after(ofSeconds(31)).rate("unheard", 8).settled();

        assertThat(story.owner("whole-g0").holder()).isPresent();
        assertThat(story.owner("cut-g0/0:8")).isInstanceOf(Owner.Free.class);
    }

    @Test
    void servesOnAnInstanceOnceItsServersHaveReportedTheirBatches() {
        story = new Scenario(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withRepartition(true)));
        story.node("whole", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB")
                .service("chat", 1)
                .settled();
        story.migNode("cut", Pool.INFERENCE, "7g.80gb@0").rate("chat", 8);
        story.after(ofSeconds(31)).rate("chat", 8).settled();
        assertThat(story.owner("cut-g0/0:8")).isInstanceOf(Owner.Free.class);

        for (int i = 0; i < 30; i++) {
            story.after(ofSeconds(15)).settled();
            story.served(
                            "chat",
                            8,
                            .1,
                            List.of(
                                    new BatchTimes(Optional.empty(), 1, 0, 30, 25),
                                    new BatchTimes(Optional.empty(), 32, 0, 30, 180)))
                    .settled();
        }

        assertThat(story.owner("cut-g0/0:8")).isEqualTo(new Owner.Serving(new ServiceId("chat")));
        assertThat(story.owner("whole-g0")).isInstanceOf(Owner.Sleeping.class);
    }

    @Test
    void aLoanInTheWayIsTakenBackAndTheReasonGivesItsPrice() {
        story.migNode("cut", Pool.INFERENCE, "7g.80gb@0").service("chat", 0).rate("chat", 0);
        story.smallJob("small", 1, 8);
        for (int i = 0; i < 8; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 0).settled();
        }
        assertThat(story.owner("cut-g0/0:8")).isInstanceOf(Owner.Lent.class);

        story.rate("chat", 300);

        assertThat(story.lastKinds()).containsExactly("reclaim");
        assertThat(story.last().get(0).reason().text())
                .startsWith("small gives 1 MIG instance back and waits: its place goes to chat, where ")
                .contains(" more requests/s are answered within the SLO and training loses ", " GPU-seconds (");
        assertThat(story.last().get(0).reason().numbers()).containsKeys("servedPerSecond", "lostGpuSeconds");
        story.tell(story.answers(story.last().get(0)).get(0));
        assertThat(story.lastKinds()).containsExactly("repartition");
    }

    @Test
    void aGpuThatNoServiceNeedsBecomesOneInstance() {
        story.service("chat", 0).rate("chat", 0);

        story.migNode("cut", Pool.INFERENCE, "1g.10gb@0 2g.20gb@2")
                .after(ofSeconds(31))
                .rate("chat", 0);

        assertThat(places()).containsExactly("7g.80gb@0");
        assertThat(story.owner("cut-g0/0:1")).isInstanceOf(Owner.Recutting.class);
        story.migNode("cut", Pool.INFERENCE, "7g.80gb@0");
        assertThat(story.state().gpus().get(new GpuId("cut-g0/0:1"))).isEmpty();
        assertThat(story.owner("cut-g0/0:8")).isInstanceOf(Owner.Free.class);
    }

    @Test
    void aGpuThatNoServiceNeedsLeavesMigModeWhereThatMayBeSwitched() {
        story.service("chat", 0).rate("chat", 0);

        story.switchableNode("cut", Pool.INFERENCE, "1g.10gb@0 2g.20gb@2")
                .after(ofSeconds(31))
                .rate("chat", 0);

        assertThat(places()).isEmpty();
        assertThat(repartition().reason().text()).contains("leaves MIG mode");
        assertThat(story.owner("cut-g0")).isInstanceOf(Owner.Recutting.class);
        story.switchableNode("cut", Pool.INFERENCE, "");
        assertThat(story.state().gpus().get(new GpuId("cut-g0/0:1"))).isEmpty();
        assertThat(story.owner("cut-g0")).isInstanceOf(Owner.Free.class);
    }

    @Test
    void aWholeGpuIsCutForAServiceOnceTheJobOnItHasLeft() {
        story.switchableNode("cut", Pool.INFERENCE, "").service("chat", 0).rate("chat", 0);
        story.job("large", 1);
        for (int i = 0; i < 8; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 0).settled();
        }
        assertThat(story.owner("cut-g0")).isInstanceOf(Owner.Lent.class);

        story.rate("chat", 300);

        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.tell(story.answers(story.last().get(0)).get(0));
        assertThat(story.lastKinds()).containsExactly("repartition");
        story.switchableNode("cut", Pool.INFERENCE, String.join(" ", places())).settled();
        assertThat(story.count("serving")).isEqualTo(1);
    }

    @Test
    void aReplicaOnAWholeGpuStaysUntilInstancesDoItsWork() {
        story.switchableNode("cut", Pool.INFERENCE, "", "").service("chat", 1).settled();
        story.rate("chat", 8);
        story.after(ofSeconds(31)).rate("chat", 8).settled();

        GpuId cut = repartition().action().gpus().get(0);
        GpuId whole = new GpuId(cut.value().endsWith("g0") ? "cut-g1" : "cut-g0");
        assertThat(story.owner(whole.value())).isInstanceOf(Owner.Serving.class);
        String places = String.join(" ", places());
        boolean isFirst = cut.value().endsWith("g0");
        story.switchableNode("cut", Pool.INFERENCE, isFirst ? places : "", isFirst ? "" : places)
                .settled();
        for (int i = 0; i < 4; i++) {
            story.after(ofSeconds(15)).rate("chat", 8).settled();
        }

        assertThat(story.count("serving")).isEqualTo(1);
        assertThat(story.owner(whole.value())).isInstanceOf(Owner.Free.class);
    }

    @Test
    void movesToASmallerInstanceThanItHasRunOnWhereTheServiceSaysHowMuchMemoryItNeeds() {
        assertThat(learning(Optional.empty())).isFalse();
        assertThat(learning(Optional.of(8))).isTrue();
        assertThat(places()).allMatch(place -> place.startsWith("1g") || place.startsWith("2g"));
    }

    /** Whether a GPU is cut within ten minutes in which a server on a whole one tells of its batches. */
    private boolean learning(Optional<Integer> gib) {
        story = new Scenario(
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withRepartition(true)));
        story.switchableNode("cut", Pool.INFERENCE, "", "");
        gib.ifPresentOrElse(each -> story.service("chat", 1, each), () -> story.service("chat", 1));
        story.settled();
        boolean isCut = false;
        for (int i = 0; i < 40 && !isCut; i++) {
            story.after(ofSeconds(15)).settled();
            story.served(
                    "chat",
                    8,
                    .1,
                    List.of(
                            new BatchTimes(Optional.empty(), 1, 0, 30, 25),
                            new BatchTimes(Optional.empty(), 32, 0, 30, 180)));
            isCut = story.decisions().stream().anyMatch(each -> each.action() instanceof Action.Repartition);
            story.settled();
        }
        return isCut;
    }
}
