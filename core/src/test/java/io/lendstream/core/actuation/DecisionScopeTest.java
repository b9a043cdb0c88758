package io.lendstream.core.actuation;

import static io.lendstream.core.actuation.ActuatorFixture.BERT;
import static io.lendstream.core.actuation.ActuatorFixture.DOMAIN;
import static io.lendstream.core.actuation.ActuatorFixture.INFERENCE;
import static io.lendstream.core.actuation.ActuatorFixture.TRAINING;
import static io.lendstream.core.actuation.ActuatorFixture.at;
import static io.lendstream.core.actuation.ActuatorFixture.changeTiming;
import static io.lendstream.core.actuation.ActuatorFixture.gpus;
import static io.lendstream.core.actuation.ActuatorFixture.lend;
import static io.lendstream.core.actuation.ActuatorFixture.reclaim;
import static io.lendstream.core.actuation.ActuatorFixture.resize;
import static io.lendstream.core.actuation.ActuatorFixture.serve;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.simulated.SimulatedDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Two actuators of one domain, each with one node. */
class DecisionScopeTest {
    private final Actuation training = actuation("training");
    private final Actuation inference = actuation("inference");
    private long sequence;

    private static Actuation actuation(String... nodes) {
        return actuation(new SimulatedDriver(facts -> changeTiming(1, 1, 3)), nodes);
    }

    private static Actuation actuation(ChangeDriver driver, String... nodes) {
        var actuation = new Actuation(nodes[0], Duration.ofSeconds(45), driver);
        actuation.keepTo(Stream.of(nodes).map(NodeId::new).toList());
        actuation.know(TRAINING);
        actuation.know(INFERENCE);
        return actuation;
    }

    /** An actuator of training's node, whose driver runs a job on one node. */
    private static Actuation narrow() {
        var actuation = new Actuation(
                "narrow",
                Duration.ofSeconds(45),
                new SimulatedDriver(facts -> changeTiming(1, 1, 3), Abilities.USUAL.withSpansNodes(false)));
        actuation.keepTo(List.of(TRAINING.nodeId()));
        actuation.know(TRAINING);
        actuation.know(INFERENCE);
        return actuation;
    }

    @Test
    void aDriverThatRunsJobsOnOneNodeStartsNoneOverTwo() {
        Actuation narrow = narrow();

        assertThat(reports(narrow, decision(0, resize(BERT, gpus("t1", "t2"), "t1", "t2")), 0))
                .contains("BOUND t1,t2");
        assertThat(reports(narrow, decision(20, lend(BERT, 400, gpus("i1"), "t1", "t2", "i1")), 20))
                .as("its own part stays as it is")
                .containsExactly("ACCEPTED ", "APPLIED t1,t2");
        assertThat(reports(narrow, decision(40, resize(BERT, gpus("t3"), "t1", "t2", "t3", "i1")), 40))
                .containsExactly("REJECTED t3");
        assertThat(reports(narrow, decision(60, resize(BERT, gpus("t2"), "t1", "i1")), 60))
                .as("it leaves its GPU")
                .contains("RELEASED t2");
        assertThat(narrow.refusals()).isEqualTo(Map.of(Refusal.UNSUPPORTED, 1L));
    }

    private Decision decision(double second, Action action) {
        sequence++;
        return new Decision(
                new DecisionId(DOMAIN, 1, sequence),
                at(second),
                at(second + 60),
                false,
                new Reason("test", "", Map.of(), List.of()),
                action);
    }

    /** The reports of an actuator in the ten seconds after a decision, such as {@code BOUND t1,t2}. */
    private static List<String> reports(Actuation actuation, Decision decision, double second) {
        List<ActuationReport> reports = new ArrayList<>(actuation.take(decision, at(second)));
        reports.addAll(actuation.advance(at(second + 10)));
        return reports.stream()
                .map(report -> report.outcome() + " "
                        + String.join(
                                ",", report.gpus().stream().map(GpuId::value).toList()))
                .toList();
    }

    @Test
    void eachActuatorTakesItsPartOfAJobOver() {
        Adopted here = new Adopted("process/1-1", gpus("t1", "t2"));
        Adopted there = new Adopted("process/2-2", gpus("i1"));
        Decision adopt = decision(
                0,
                new Action.Adopt(
                        BERT,
                        List.of(here, there),
                        List.of(),
                        Optional.of(at(600)),
                        Optional.of(new Allocation(gpus("i1", "t1", "t2"), 32, 0, 1, Mechanism.RESTART))));

        assertThat(adopted("training", adopt)).isEqualTo(List.of(here));
        assertThat(adopted("inference", adopt)).isEqualTo(List.of(there));
    }

    /** What the driver of a node's actuator is to take over by a decision. */
    private static List<Adopted> adopted(String node, Decision adopt) {
        Actuation actuation = actuation(ScriptedDriver.ABLE, node);
        actuation.take(adopt, at(0));
        return actuation.orders().stream()
                .filter(Order.Place.class::isInstance)
                .flatMap(order -> ((Order.Place) order).adopted().stream())
                .toList();
    }

    @Test
    void eachActuatorTakesItsPartOfADecision() {
        Decision lend = decision(0, lend(BERT, 400, gpus("i1", "i2"), "t1", "t2", "i1", "i2"));

        assertThat(reports(training, lend, 0)).containsExactly("ACCEPTED t1,t2", "BOUND t1,t2", "APPLIED t1,t2");
        assertThat(reports(inference, lend, 0)).containsExactly("ACCEPTED i1,i2", "BOUND i1,i2", "APPLIED i1,i2");

        Decision reclaim = decision(20, reclaim(BERT, 65, gpus("i1", "i2"), "t1", "t2"));
        assertThat(reports(training, reclaim, 20)).containsExactly("ACCEPTED ", "APPLIED t1,t2");
        assertThat(reports(inference, reclaim, 20)).containsExactly("ACCEPTED i1,i2", "RELEASED i1,i2", "APPLIED ");
    }

    @Test
    void anActuatorSaysNothingAboutUnitsOfOthers() {
        Decision serve = decision(0, serve("i1"));

        assertThat(reports(training, serve, 0)).isEmpty();
        assertThat(reports(training, serve, 20)).as("seen before").isEmpty();
        assertThat(reports(inference, serve, 0)).startsWith("ACCEPTED i1");
        assertThat(training.refusals()).doesNotContainKey(Refusal.GPU_UNKNOWN);
    }

    @Test
    void aUnitThatNoNodeHasIsStillRefused() {
        assertThat(reports(training, decision(0, resize(BERT, gpus("t9"), "t9")), 0))
                .containsExactly("REJECTED t9");
    }

    @Test
    void ownershipReportsNameOwnUnitsOnly() {
        reports(training, decision(0, resize(BERT, gpus("t1"), "t1")), 0);

        assertThat(training.stock().stream().flatMap(report -> report.gpus().stream()))
                .containsExactlyInAnyOrderElementsOf(gpus("t1", "t2", "t3", "t4"));
    }

    @Test
    void anActuatorWithoutNodesOfItsOwnTakesAll() {
        Actuation all =
                new Actuation("all", Duration.ofSeconds(45), new SimulatedDriver(facts -> changeTiming(1, 1, 3)));
        all.keepTo(List.of());
        all.know(TRAINING);
        all.know(INFERENCE);

        assertThat(reports(all, decision(0, lend(BERT, 400, gpus("i1"), "t1", "i1")), 0))
                .containsExactly("ACCEPTED i1,t1", "BOUND i1,t1", "APPLIED i1,t1");
    }

    private static Action paused(String... gpus) {
        return new Action.Reclaim(BERT.job(), gpus(gpus), at(65), Allocation.suspended(Mechanism.PAUSE));
    }

    /** The actuator of the node where it is paused has to drop it. */
    @Test
    void aPausedJobThatStartsElsewhereLeavesTheMemoryOfItsNode() {
        reports(inference, decision(0, lend(BERT, 400, gpus("i1", "i2"), "i1", "i2")), 0);
        Decision pause = decision(20, paused("i1", "i2"));
        assertThat(reports(inference, pause, 20)).containsExactly("ACCEPTED i1,i2", "RELEASED i1,i2", "APPLIED ");
        assertThat(reports(training, pause, 20)).isEmpty();

        Decision elsewhere = decision(40, resize(BERT, gpus("t1"), "t1"));
        assertThat(reports(training, elsewhere, 40)).containsExactly("ACCEPTED t1", "BOUND t1", "APPLIED t1");
        assertThat(reports(inference, elsewhere, 40)).containsExactly("ACCEPTED ", "APPLIED ");

        Decision next = decision(60, resize(BERT, gpus("t2"), "t1", "t2"));
        assertThat(reports(inference, next, 60)).isEmpty();
    }

    @Test
    void aJobThatWasKilledWhileItPausedIsNotPaused() {
        Actuation stuck = new Actuation(
                "inference", Duration.ofSeconds(45), new SimulatedDriver(facts -> changeTiming(300, 1, 300)));
        stuck.keepTo(List.of(INFERENCE.nodeId()));
        stuck.know(TRAINING);
        stuck.know(INFERENCE);
        reports(stuck, decision(0, lend(BERT, 400, gpus("i1"), "i1")), 0);
        stuck.take(decision(20, paused("i1")), at(20));
        assertThat(stuck.advance(at(70))).extracting(ActuationReport::outcome).contains(Outcome.FORCED);

        assertThat(reports(stuck, decision(80, resize(BERT, gpus("t1"), "t1")), 80))
                .isEmpty();
    }

    @Test
    void onlyItsActuatorDropsAPausedJob() {
        reports(inference, decision(0, lend(BERT, 400, gpus("i1", "i2"), "i1", "i2")), 0);
        reports(inference, decision(20, paused("i1", "i2")), 20);
        Decision drop = decision(40, new Action.Resize(BERT.job(), List.of(), Allocation.suspended(Mechanism.RESTART)));

        assertThat(reports(training, drop, 40)).isEmpty();
        assertThat(reports(inference, drop, 40)).containsExactly("ACCEPTED ", "APPLIED ");
    }

    @Test
    void aLostNodeHasNothingOfItsPausedJobs() {
        reports(inference, decision(0, lend(BERT, 400, gpus("i1", "i2"), "i1", "i2")), 0);
        reports(inference, decision(20, paused("i1", "i2")), 20);
        inference.lose(INFERENCE.nodeId());
        inference.know(INFERENCE);

        assertThat(reports(inference, decision(40, resize(BERT, gpus("t1"), "t1")), 40))
                .isEmpty();
    }
}
