package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.ScriptedDriver;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.simulated.SimulatedNodes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * An actuator of a node of one whole GPU, and of one whose GPU may be cut and is one instance; a create takes 2 s, a
 * destroy 1 s, and switching MIG mode 20 s.
 */
class CuttingTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Instant MORNING = NOON.minusSeconds(22);
    private static final Duration NOTICE = Duration.ofSeconds(45);

    private final SimulatedNodes nodes =
            new SimulatedNodes(new SimulatedNodes.Layout(DOMAIN, 2, 1, 0, 1, 1), NOON, Duration.ofSeconds(15), "boot");
    private final GpuId whole = nodes.inventory().get(0).gpus().get(0).gpuId();
    private final GpuId cut = nodes.inventory().get(1).gpus().get(0).gpuId();
    private Actuation actuation = new Actuation("test", NOTICE, new SimulatedDriver(SimulatedDelays.realistic()));
    private long sequence;

    @BeforeEach
    void cutsTheLatter() {
        nodes.inventory().forEach(actuation::know);
        take(repartition(cut, "7g.80gb@0"));
        advance(0);
    }

    private List<Outcome> take(Action action) {
        return outcomes(report(action));
    }

    private List<ActuationReport> report(Action action) {
        Decision decision = new Decision(
                new DecisionId(DOMAIN, 1, ++sequence),
                clock(),
                clock().plusSeconds(60),
                false,
                new Reason("test", "for the test", Map.of(), List.of()),
                action);
        nodes.observe(decision);
        return actuation.take(decision, clock());
    }

    private Instant clock() {
        return actuation.clock().isBefore(MORNING) ? MORNING : NOON;
    }

    /** The reports up to a second after noon; changed inventories are passed on. */
    private List<Outcome> advance(long second) {
        return outcomes(actuation.advance(NOON.plusSeconds(second)));
    }

    private List<Outcome> outcomes(List<ActuationReport> reports) {
        List<Outcome> outcomes = new ArrayList<>();
        for (ActuationReport report : reports) {
            outcomes.add(report.outcome());
            nodes.recut(report).forEach(actuation::know);
        }
        return outcomes;
    }

    private static Action repartition(GpuId gpu, String... places) {
        return new Action.Repartition(List.of(gpu), List.of(places));
    }

    private static Action serve(GpuId unit) {
        return new Action.Serve(new ServiceId("chat"), List.of(unit), false);
    }

    private GpuId unit(String place) {
        return new GpuId(cut + "/" + place);
    }

    @Test
    void cutsAGpuWhoseInstancesAreFreeAndTheNodeShowsIt() {
        assertThat(take(repartition(cut, "4g.40gb@0", "3g.40gb@4"))).containsExactly(Outcome.ACCEPTED);
        assertThat(advance(4)).isEmpty();
        assertThat(advance(5)).containsExactly(Outcome.APPLIED);

        assertThat(nodes.inventory().get(1).gpus().get(0).instances())
                .extracting(GpuInstance::profile, GpuInstance::start)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("4g.40gb", 0),
                        org.assertj.core.groups.Tuple.tuple("3g.40gb", 4));
        assertThat(take(serve(unit("4:4")))).contains(Outcome.ACCEPTED);
    }

    @Test
    void refusesToRemoveAnInstanceWithATenant() {
        take(serve(unit("0:8")));

        assertThat(take(repartition(cut, "4g.40gb@0"))).containsExactly(Outcome.REJECTED);
        assertThat(actuation.refusals()).containsEntry(Refusal.GPU_HELD, 1L);
    }

    @Test
    void leavesInstancesThatStayToThoseWhoHaveThem() {
        take(repartition(cut, "4g.40gb@0", "3g.40gb@4"));
        advance(5);
        take(serve(unit("0:4")));

        assertThat(take(repartition(cut, "4g.40gb@0", "2g.20gb@4"))).containsExactly(Outcome.ACCEPTED);
        assertThat(advance(8)).contains(Outcome.APPLIED);
        assertThat(actuation.holdings()).extracting(Holding::gpu).containsExactly(unit("0:4"));
    }

    @Test
    void bindsNoTenantToAnInstanceThatIsBeingRemoved() {
        take(repartition(cut, "4g.40gb@0"));

        assertThat(take(serve(unit("0:8")))).containsExactly(Outcome.REJECTED);
    }

    @Test
    void refusesToSwitchMigModeWhereTheInventoryDoesNotAllowIt() {
        assertThat(take(repartition(whole, "7g.80gb@0"))).containsExactly(Outcome.REJECTED);
        assertThat(actuation.refusals()).containsEntry(Refusal.UNSUPPORTED, 1L);
    }

    @Test
    void leavesMigModeAndTheWholeGpuCanBeUsed() {
        assertThat(take(repartition(cut))).containsExactly(Outcome.ACCEPTED);
        assertThat(take(serve(cut))).containsExactly(Outcome.REJECTED);
        assertThat(advance(20)).isEmpty();
        assertThat(advance(21)).containsExactly(Outcome.APPLIED);

        assertThat(nodes.inventory().get(1).gpus().get(0))
                .isEqualTo(Gpu.whole(cut, 0, "NVIDIA A100-SXM4-80GB", 80L << 30).switchable());
        assertThat(take(serve(cut))).contains(Outcome.ACCEPTED);
    }

    @Test
    void goesOnCuttingAfterARestart() {
        take(repartition(cut, "4g.40gb@0"));

        actuation = Actuation.restore(
                "test", NOTICE, new SimulatedDriver(SimulatedDelays.realistic()), actuation.snapshot());
        nodes.inventory().forEach(actuation::know);

        assertThat(take(serve(unit("0:8")))).containsExactly(Outcome.REJECTED);
        assertThat(advance(3)).containsExactly(Outcome.APPLIED);
    }

    @Test
    void whatADriverIsToCutIsOrderedAgainAfterARestartAndReportedWhenItTells() {
        actuation = new Actuation("test", NOTICE, ScriptedDriver.ABLE);
        nodes.inventory().forEach(actuation::know);
        take(repartition(cut, "4g.40gb@0"));
        List<Order> orders = actuation.orders();
        assertThat(orders).hasSize(1);

        actuation = Actuation.restore("test", NOTICE, ScriptedDriver.ABLE, actuation.snapshot());
        nodes.inventory().forEach(actuation::know);

        assertThat(actuation.resume(NOON, true)).isEqualTo(orders);
        DriverEvent done = new DriverEvent.Cut(orders.get(0).decision(), cut, true, "");
        assertThat(outcomes(actuation.done(done, NOON.plusSeconds(2)))).containsExactly(Outcome.APPLIED);
        assertThat(outcomes(actuation.done(done, NOON.plusSeconds(3)))).isEmpty();
        assertThat(actuation.resume(NOON, true)).isEmpty();
    }

    @Test
    void aCutThatNoDriverCanMakeIsRefused() {
        actuation = new Actuation("test", NOTICE, new ScriptedDriver(true, false, true));
        nodes.inventory().forEach(actuation::know);

        assertThat(take(repartition(cut, "4g.40gb@0"))).containsExactly(Outcome.REJECTED);
    }

    /** The GPU is in MIG mode, and only the tools of its node switch that. */
    @Test
    void aGpuWhoseModeMayNotBeSwitchedIsCutWithinItsModeOnly() {
        GpuId fixed = new GpuId("fixed");
        GpuInstance instance = new GpuInstance(new GpuId("fixed/0:8"), "7g.80gb", 0, 8, 80L << 30, Optional.empty());
        Gpu gpu = Gpu.whole(fixed, 0, "NVIDIA A100-SXM4-80GB", 80L << 30).cutInto(List.of(instance));
        actuation.know(
                new Node(new NodeId("fixed"), DOMAIN, Pool.INFERENCE, "boot", NOON, NodeStatus.READY, List.of(gpu)));

        assertThat(take(repartition(fixed))).containsExactly(Outcome.REJECTED);
        assertThat(actuation.refusals()).containsEntry(Refusal.UNSUPPORTED, 1L);
        assertThat(take(repartition(fixed, "3g.40gb@0"))).containsExactly(Outcome.ACCEPTED);
        assertThat(advance(2)).isEmpty();
        assertThat(advance(3)).containsExactly(Outcome.APPLIED);
    }

    @Test
    void aRefusedCutNamesTheInstanceThatIsInTheWay() {
        take(serve(unit("0:8")));

        List<ActuationReport> reports = report(repartition(cut, "4g.40gb@0"));

        assertThat(reports)
                .extracting(ActuationReport::reason)
                .containsExactly("%s is in the way: it is being bound to".formatted(unit("0:8")) + " service chat");
        assertThat(reports).extracting(ActuationReport::gpus).containsExactly(List.of(cut));
    }

    @Test
    void aGpuThatIsBeingCutIsNotCutAgainBeforeThatIsOver() {
        take(repartition(cut, "4g.40gb@0"));

        assertThat(report(repartition(cut, "3g.40gb@4")))
                .extracting(ActuationReport::reason)
                .containsExactly("%s is in the way: it is being cut".formatted(cut));
        assertThat(actuation.refusals()).containsEntry(Refusal.GPU_HELD, 1L);
    }

    @Test
    void aCutThatADriverDoesNotMakeInTimeHasFailedAndTheInstancesCanBeUsed() {
        actuation = new Actuation("test", NOTICE, ScriptedDriver.ABLE);
        nodes.inventory().forEach(actuation::know);
        take(repartition(cut, "4g.40gb@0"));
        assertThat(take(serve(unit("0:8")))).containsExactly(Outcome.REJECTED);

        assertThat(actuation.advance(MORNING.plusSeconds(59))).isEmpty();
        List<ActuationReport> reports = actuation.advance(MORNING.plusSeconds(60));

        assertThat(reports).extracting(ActuationReport::outcome).containsExactly(Outcome.FAILED);
        assertThat(reports)
                .extracting(ActuationReport::reason)
                .containsExactly("not cut until " + MORNING.plusSeconds(60));
        assertThat(actuation.resume(NOON, true)).isEmpty();
        assertThat(take(serve(unit("0:8")))).containsExactly(Outcome.ACCEPTED);
    }

    @Test
    void aCutThatADriverCouldNotMakeHasFailedForTheDriversReason() {
        actuation = new Actuation("test", NOTICE, ScriptedDriver.ABLE);
        nodes.inventory().forEach(actuation::know);
        List<ActuationReport> accepted = report(repartition(cut, "4g.40gb@0"));
        DecisionId id = accepted.get(0).decision();

        assertThat(actuation.done(new DriverEvent.Cut(id, whole, false, "another GPU"), MORNING.plusSeconds(1)))
                .isEmpty();
        List<ActuationReport> reports =
                actuation.done(new DriverEvent.Cut(id, cut, false, "it is in use"), MORNING.plusSeconds(2));

        assertThat(reports).extracting(ActuationReport::outcome).containsExactly(Outcome.FAILED);
        assertThat(reports).extracting(ActuationReport::reason).containsExactly("it is in use");
        assertThat(reports)
                .extracting(report -> report.timings().ready())
                .containsExactly(Optional.of(Duration.ofSeconds(2)));
        assertThat(actuation.resume(NOON, true)).isEmpty();
        assertThat(take(serve(unit("0:8")))).containsExactly(Outcome.ACCEPTED);
    }

    @Test
    void aCutEndsWithoutAReportWhenItsNodeIsLost() {
        actuation = new Actuation("test", NOTICE, ScriptedDriver.ABLE);
        nodes.inventory().forEach(actuation::know);
        assertThat(take(repartition(cut, "4g.40gb@0"))).containsExactly(Outcome.ACCEPTED);

        actuation.lose(nodes.inventory().get(1).nodeId());

        assertThat(actuation.resume(NOON, true)).isEmpty();
        assertThat(actuation.advance(NOON.plusSeconds(1000))).isEmpty();
    }

    @Test
    void aGpuThatIsWholeAndMayNotBeCutIsRefusedAChangeToWhatItIs() {
        assertThat(take(repartition(whole))).containsExactly(Outcome.REJECTED);
        assertThat(actuation.refusals()).containsEntry(Refusal.UNSUPPORTED, 1L);
    }
}
