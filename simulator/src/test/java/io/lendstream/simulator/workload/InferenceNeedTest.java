package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class InferenceNeedTest {
    @Test
    void thePeakIsOfWholeGpusOfAllServicesTogether() {
        Workload workload =
                workload(rates("chat", 10, List.of(5.0, 45.0, 5.0)), rates("vision", 10, List.of(5.0, 5.0, 5.0)));

        InferenceNeed need = InferenceNeed.of(workload, 5);

        assertThat(need.peak()).isEqualTo(6);
        assertThat(need.peakShare()).isCloseTo(5, within(1e-9));
        assertThat(need.exceeds()).isTrue();
        assertThat(need.services()).isEqualTo(2);
        assertThat(need.queuesUp()).isFalse();
        assertThat(need.excessShare()).isZero();
        assertThat(need.wholeExcessShare()).isCloseTo(1 / 10.0, within(1e-9));
        assertThat(need.from()).isEqualTo(Workload.EPOCH.plusSeconds(3600));
        assertThat(need.to()).isEqualTo(Workload.EPOCH.plusSeconds(7200));
        assertThat(need.length()).isEqualTo(Duration.ofHours(1));
        assertThat(need.longestExcess()).as("5.0 of 5 GPUs").isZero();
        assertThat(InferenceNeed.of(workload, 4).longestExcess()).isEqualTo(Duration.ofHours(1));
        assertThat(InferenceNeed.of(workload, 4).excessShare()).isCloseTo(1 / 7.0, within(1e-6));
        assertThat(InferenceNeed.of(workload, 4).queuesUp()).isTrue();
        assertThat(InferenceNeed.of(workload, 6).exceeds()).isFalse();
    }

    @Test
    void theLongestExcessIsWithoutABreak() {
        Workload workload = workload(rates("chat", 10, List.of(20.01, 20.01, 20.01, 5.0, 20.01, 20.01, 5.0)));

        InferenceNeed need = InferenceNeed.of(workload, 2);

        assertThat(need.length()).isEqualTo(Duration.ofHours(5));
        assertThat(need.longestExcess()).isEqualTo(Duration.ofHours(3));
        assertThat(need.excessShare()).isLessThan(.001).isPositive();
        assertThat(InferenceNeed.of(workload, 3).longestExcess()).isZero();
    }

    @Test
    void singleRequestsNeedTheTimeThatTheyCompute() {
        List<Request> requests = List.of(
                new Request("a", Workload.EPOCH, Duration.ofMinutes(10)),
                new Request("b", Workload.EPOCH.plusSeconds(10), Duration.ofMinutes(5)));
        Workload workload =
                workload(new ServiceLoad(service("chat", 1), new Demand.Requests(requests, Workload.EPOCH)));

        assertThat(InferenceNeed.of(workload, 2).peak()).isEqualTo(2);
        assertThat(InferenceNeed.of(workload, 2).peakShare()).isCloseTo(2, within(.1));
    }

    @Test
    void aServiceOnSeveralKindsNeedsTheFewestGpusThatMayBeEnough() {
        ServiceLoad alike = rates("chat", 10, List.of(40.0, 40.0));
        InferenceService onKinds = alike.service()
                .onKinds(List.of(
                        KindCapacity.of(new KindId("Tesla-T4-16GB"), 5),
                        KindCapacity.of(new KindId("A100-SXM4-80GB"), 20)));

        assertThat(InferenceNeed.of(workload(alike), 1).peak()).isEqualTo(4);
        assertThat(InferenceNeed.of(workload(new ServiceLoad(onKinds, alike.demand())), 1)
                        .peak())
                .isEqualTo(2);
    }

    /** A replica of three GPUs answers 20 requests per second: four GPUs have room for one of the two that are needed. */
    @Test
    void replicasOfSeveralGpusAreCountedWhole() {
        ServiceLoad load = shaped(List.of(27.5, 10.0), ReplicaShape.of("tp3", 3, 1, 20, Duration.ofSeconds(10)));

        InferenceNeed need = InferenceNeed.of(workload(load), 4);

        assertThat(need.hasGroups()).isTrue();
        assertThat(need.peak()).isEqualTo(6);
        assertThat(need.excessShare()).as("of 37.5 requests per second").isCloseTo(7.5 / 37.5, within(1e-6));
        assertThat(need.longestExcess()).isEqualTo(Duration.ofHours(1));
        assertThat(need.queuesUp()).isTrue();
        assertThat(InferenceNeed.of(workload(load), 6).exceeds()).isFalse();
        assertThat(InferenceNeed.of(workload(load), 6).excessShare()).isZero();
    }

    @Test
    void theShapesThatNeedTheFewestGpusTogetherAreCounted() {
        ServiceLoad load = shaped(
                List.of(35.0, 3500.0),
                ReplicaShape.of("one", 1, 1, 10, Duration.ofSeconds(10)),
                ReplicaShape.of("two", 2, 1, 25, Duration.ofSeconds(10)));

        assertThat(WholeReplicas.of(load.service(), 8).gpus(35 / 12.5)).isEqualTo(3);
        assertThat(InferenceNeed.of(workload(load), 300).peak()).isEqualTo(280);
        assertThat(InferenceNeed.of(workload(load), 8).peak()).isEqualTo(280);
    }

    @Test
    void eachRoleHasItsOwnReplicas() {
        ServiceLoad load = shaped(
                List.of(30.0),
                ReplicaShape.of("in", 1, 1, 38, Duration.ofSeconds(10)).as(ReplicaRole.PREFILL),
                ReplicaShape.of("out", 2, 1, 25, Duration.ofSeconds(10)).as(ReplicaRole.DECODE));

        assertThat(InferenceNeed.of(workload(load), 4).peak()).isEqualTo(5);
        assertThat(InferenceNeed.of(workload(load), 4).excessShare()).isCloseTo(5 / 30.0, within(1e-6));
    }

    @Test
    void itIsKnownWhetherReplicasDifferByKind() {
        ServiceLoad alike = rates("chat", 10, List.of(40.0));
        InferenceService onKinds = alike.service()
                .onKinds(List.of(
                        KindCapacity.of(new KindId("Tesla-T4-16GB"), 5),
                        KindCapacity.of(new KindId("A100-SXM4-80GB"), 20)));

        assertThat(InferenceNeed.of(workload(alike), 1).onBestKinds()).isFalse();
        assertThat(InferenceNeed.of(workload(new ServiceLoad(onKinds, alike.demand())), 1)
                        .onBestKinds())
                .isTrue();
    }

    private static ServiceLoad shaped(List<Double> perSecond, ReplicaShape... shapes) {
        ServiceLoad plain = rates("chat", 10, perSecond);
        return new ServiceLoad(plain.service().inShapes(List.of(shapes)), plain.demand());
    }

    @Test
    void noServiceNeedsNothing() {
        assertThat(InferenceNeed.of(workload(), 1).exceeds()).isFalse();
        assertThat(InferenceNeed.of(workload(), 1).excessShare()).isZero();
        assertThat(InferenceNeed.of(workload(), 1).longestExcess()).isZero();
    }

    private static Workload workload(ServiceLoad... loads) {
        return new Workload("w", Workload.EPOCH, List.of(), List.of(loads));
    }

    private static ServiceLoad rates(String name, double capacity, List<Double> perSecond) {
        return new ServiceLoad(
                service(name, capacity), new Demand.Rates(Workload.EPOCH, Duration.ofHours(1), perSecond, 0, .1));
    }

    private static InferenceService service(String name, double capacity) {
        return new InferenceService(
                new ServiceId(name),
                new DomainId("d"),
                Workload.EPOCH,
                List.of(name),
                Duration.ofSeconds(1),
                capacity,
                Optional.empty(),
                0,
                Duration.ofSeconds(10));
    }
}
