package io.lendstream.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A replica of two GPUs in the simulated world answers only if both are bound. */
class GroupReplicasTest {
    private static final Instant START = Workload.EPOCH;
    private static final GpuId ONE = new GpuId("g0");
    private static final GpuId TWO = new GpuId("g1");
    private static final GpuPlaces PLACES = new GpuPlaces(Map.of(ONE, new NodeId("n"), TWO, new NodeId("n")), Map.of());

    private final RateRun run = run(ReplicaShape.of("tp2", 2, 1, 30, Duration.ofSeconds(8)));

    private static RateRun run(ReplicaShape... shapes) {
        return new RateRun(
                new InferenceService(
                                new ServiceId("chat"),
                                new DomainId("d"),
                                START,
                                List.of(),
                                Duration.ofSeconds(10),
                                10,
                                Optional.empty(),
                                0,
                                Duration.ofSeconds(8))
                        .inShapes(List.of(shapes)),
                new Demand.Rates(START, Duration.ofMinutes(1), Collections.nCopies(10, 1.0), 0, 0.05),
                WorldSettings.of(1),
                PLACES,
                new GpuMeter(1000),
                START,
                START.plusSeconds(600));
    }

    private static Instant at(int second) {
        return START.plusSeconds(second);
    }

    private static ReplicaUnits replica(int decision) {
        return new ReplicaUnits(
                ReplicaId.of(new DecisionId(new DomainId("d"), 1, decision), 0),
                "tp2",
                ReplicaRole.ALL,
                List.of(ONE, TWO));
    }

    @Test
    void answersOnceAllItsGpusAreBound() {
        run.join(List.of(replica(1)));
        run.warming(List.of(ONE, TWO), at(1));
        assertThat(run.warmingReplicas()).isEqualTo(1);

        run.bound(List.of(TWO), at(5));
        assertThat(run.capacityPerSecond()).isZero();
        run.bound(List.of(ONE), at(6));

        assertThat(run.replicas()).isEqualTo(1);
        assertThat(run.capacityPerSecond()).isEqualTo(30);
    }

    @Test
    void answersNothingAfterItHasLostAGpu() {
        run.join(List.of(replica(1)));
        run.bound(List.of(ONE, TWO), at(5));

        run.gone(List.of(TWO), at(9));
        run.bound(List.of(ONE), at(10));

        assertThat(run.replicas()).isZero();
        assertThat(run.capacityPerSecond()).isZero();
    }

    /** The end of the old replica on one of its GPUs was reported by another name of that GPU. */
    @Test
    void whatWasBoundInAnOldReplicaIsNotBoundInANewOne() {
        run.join(List.of(replica(1)));
        run.bound(List.of(ONE, TWO), at(5));
        run.gone(List.of(TWO), at(9));

        run.join(List.of(replica(2)));
        run.bound(List.of(TWO), at(15));
        assertThat(run.replicas()).isZero();
        run.join(List.of(replica(2)));
        run.bound(List.of(ONE), at(16));

        assertThat(run.replicas()).isEqualTo(1);
    }

    @Test
    void theEndOfAnOldReplicaDoesNotEndANewOneOnTheSameGpu() {
        run.join(List.of(replica(1)));
        run.bound(List.of(ONE, TWO), at(5));
        run.gone(List.of(ONE, TWO), at(9));
        run.join(List.of(replica(2)));
        run.bound(List.of(ONE, TWO), at(15));

        assertThat(run.replicas()).isEqualTo(1);
    }

    /** Each request needs a prefill replica, which reads 30 requests/s, and a decode replica, which writes 20. */
    @Test
    void theRoleThatAnswersLeastDecides() {
        RateRun parts = run(
                ReplicaShape.of("in", 1, 1, 30, Duration.ofSeconds(8)).as(ReplicaRole.PREFILL),
                ReplicaShape.of("out", 1, 1, 20, Duration.ofSeconds(8)).as(ReplicaRole.DECODE));
        DecisionId decision = new DecisionId(new DomainId("d"), 1, 1);
        parts.join(List.of(
                new ReplicaUnits(ReplicaId.of(decision, 0), "in", ReplicaRole.PREFILL, List.of(ONE)),
                new ReplicaUnits(ReplicaId.of(decision, 1), "out", ReplicaRole.DECODE, List.of(TWO))));

        parts.bound(List.of(ONE), at(5));
        assertThat(parts.capacityPerSecond()).isZero();
        parts.bound(List.of(TWO), at(6));
        assertThat(parts.capacityPerSecond()).isEqualTo(20);
        parts.gone(List.of(ONE), at(7));

        assertThat(parts.capacityPerSecond()).isZero();
    }
}
