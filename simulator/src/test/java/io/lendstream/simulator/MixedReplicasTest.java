package io.lendstream.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.Request;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Replicas of a service on an A100 and on a T4, where they are half as fast. */
class MixedReplicasTest {
    private static final Instant START = Workload.EPOCH;
    private static final GpuId BIG = new GpuId("big");
    private static final GpuId SMALL = new GpuId("small");
    private static final KindId A100 = new KindId("A100-SXM4-80GB");
    private static final KindId T4 = new KindId("Tesla-T4-16GB");
    private static final GpuPlaces PLACES =
            new GpuPlaces(Map.of(BIG, new NodeId("a"), SMALL, new NodeId("t")), Map.of(BIG, A100, SMALL, T4));

    private static InferenceService service(Optional<Integer> concurrency) {
        return new InferenceService(
                        new ServiceId("chat"),
                        new DomainId("d"),
                        START,
                        List.of(),
                        Duration.ofSeconds(10),
                        20,
                        concurrency,
                        0,
                        Duration.ofSeconds(8))
                .onKinds(List.of(KindCapacity.of(A100, 20), KindCapacity.of(T4, new KindRatio(0.5, 0.3))));
    }

    private static RequestRun requests(Request... requests) {
        return new RequestRun(
                service(Optional.of(1)), List.of(requests), WorldSettings.of(1), PLACES, new GpuMeter(1000), START);
    }

    /** A request that takes 4 s on an A100. */
    private static Request request(String name, int second) {
        return new Request(name, at(second), Duration.ofSeconds(4));
    }

    private static Instant at(int second) {
        return START.plusSeconds(second);
    }

    private static void runUntil(ServiceRun run, int second) {
        run.advanceTo(at(second), rate -> {});
    }

    @Test
    void aRequestTakesLongerOnASlowerKind() {
        RequestRun run = requests(request("a", 10));
        run.bound(List.of(SMALL), at(5));

        runUntil(run, 30);

        assertThat(run.requests()).singleElement().satisfies(answered -> {
            assertThat(answered.completed()).isEqualTo(at(18));
            assertThat(answered.overhead()).as("it did not wait").isZero();
        });
    }

    @Test
    void aRequestGoesToTheFastestReplicaThatIsIdle() {
        RequestRun run = requests(request("a", 10), request("b", 11), request("c", 12));
        run.bound(List.of(BIG, SMALL), at(5));

        runUntil(run, 40);

        assertThat(run.requests())
                .extracting(RequestResult::name, RequestResult::completed)
                .containsExactly(tuple("a", at(14)), tuple("c", at(18)), tuple("b", at(19)));
    }

    @Test
    void aRequestOnALostReplicaBeginsAgainOnAnother() {
        RequestRun run = requests(request("a", 10));
        run.bound(List.of(SMALL), at(5));
        runUntil(run, 12);

        run.gone(List.of(SMALL), at(12));
        run.bound(List.of(BIG), at(20));
        runUntil(run, 40);

        assertThat(run.requests())
                .singleElement()
                .extracting(RequestResult::completed)
                .isEqualTo(at(24));
    }

    @Test
    void ratesAreAnsweredByTheSumOfCapacities() {
        Demand.Rates demand = new Demand.Rates(START, Duration.ofMinutes(1), Collections.nCopies(10, 25.0), 0, 0.05);
        RateRun run = new RateRun(
                service(Optional.empty()),
                demand,
                WorldSettings.of(1),
                PLACES,
                new GpuMeter(1000),
                START,
                demand.end());

        run.bound(List.of(SMALL), at(0));
        assertThat(run.capacityPerSecond()).as("a ratio counts in full").isEqualTo(10);
        run.bound(List.of(BIG), at(0));
        assertThat(run.capacityPerSecond()).isEqualTo(30);
        assertThat(run.replicaPerSecond()).isEqualTo(15);
        run.leaving(List.of(SMALL), at(0));
        assertThat(run.capacityPerSecond()).isEqualTo(20);
        run.gone(List.of(SMALL, BIG), at(0));
        assertThat(run.capacityPerSecond()).isZero();
    }
}
