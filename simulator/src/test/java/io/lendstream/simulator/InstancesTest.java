package io.lendstream.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.Request;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** MIG instances of 3 and 1 of 7 compute slices, beside a whole GPU. */
class InstancesTest {
    private static final Instant START = Workload.EPOCH;
    private static final DomainId DOMAIN = new DomainId("d");
    private static final long GIB = 1L << 30;
    private static final GpuId WHOLE = new GpuId("whole");
    private static final GpuId THREE = new GpuId("cut/4:4");
    private static final GpuId ONE = new GpuId("cut/0:1");
    private static final Gpu CUT = gpu("cut", 1)
            .cutInto(List.of(
                    new GpuInstance(THREE, "3g.40gb", 4, 4, 40 * GIB, Optional.empty()),
                    new GpuInstance(ONE, "1g.10gb", 0, 1, 10 * GIB, Optional.empty())));

    private final GpuPlaces places = new GpuPlaces();
    private final GpuMeter meter = new GpuMeter(1000);

    InstancesTest() {
        places.learn(node(gpu("whole", 0), CUT));
    }

    private static Gpu gpu(String name, int index) {
        return Gpu.whole(new GpuId(name), index, "NVIDIA A100-SXM4-80GB", 80 * GIB);
    }

    private static Node node(Gpu... gpus) {
        return new Node(new NodeId("n"), DOMAIN, Pool.INFERENCE, "boot", START, NodeStatus.READY, List.of(gpus));
    }

    private static InferenceService service(Optional<Integer> concurrency) {
        return new InferenceService(
                new ServiceId("chat"),
                DOMAIN,
                START,
                List.of(),
                Duration.ofSeconds(10),
                7,
                concurrency,
                0,
                Duration.ofSeconds(8));
    }

    private static Instant at(int second) {
        return START.plusSeconds(second);
    }

    @Test
    void anInstanceIsAsMuchOfAGpuAsItHasComputeSlices() {
        assertThat(places.gpus()).isCloseTo(1 + 4.0 / 7, within(1e-9));
        assertThat(places.gpus(List.of(WHOLE, THREE))).isCloseTo(10.0 / 7, within(1e-9));
        assertThat(places.pace(List.of(WHOLE, ONE))).isCloseTo(1.0 / 7, within(1e-9));
        assertThat(places.nodes()).as("the GPU that is cut is none").containsOnlyKeys(WHOLE, THREE, ONE);
    }

    @Test
    void aGpuCountsOnceHoweverItIsCut() {
        places.learn(node(gpu("whole", 0), CUT.uncut()));

        assertThat(places.gpus()).isEqualTo(2);
        assertThat(places.nodes()).as("late reports name it").containsKey(THREE);

        places.learn(node(gpu("whole", 0), CUT));
        assertThat(places.gpus()).isCloseTo(1 + 4.0 / 7, within(1e-9));
    }

    @Test
    void anInstanceOfAnUnknownProfileCountsItsMemory() {
        GpuInstance unknown = new GpuInstance(ONE, "5g.20gb", 0, 2, 20 * GIB, Optional.empty());

        places.learn(node(gpu("cut", 0).cutInto(List.of(unknown))));

        assertThat(places.share(ONE)).isEqualTo(0.25);
    }

    @Test
    void aReplicaOnAnInstanceAnswersAsMuchLess() {
        Demand.Rates demand = new Demand.Rates(START, Duration.ofMinutes(1), Collections.nCopies(10, 1.0), 0, 0.05);
        RateRun run =
                new RateRun(service(Optional.empty()), demand, WorldSettings.of(1), places, meter, START, demand.end());

        run.bound(List.of(WHOLE), at(0));
        assertThat(run.capacityPerSecond()).isEqualTo(7);
        run.bound(List.of(THREE), at(0));
        assertThat(run.capacityPerSecond()).isCloseTo(10, within(1e-9));
        assertThat(run.replicaPerSecond()).as("of a whole GPU").isCloseTo(7, within(1e-9));
        run.gone(List.of(THREE), at(0));
        assertThat(run.capacityPerSecond()).isEqualTo(7);
    }

    @Test
    void aRequestOnAnInstanceTakesLongerOnALesserPartOfAGpu() {
        RequestRun run = new RequestRun(
                service(Optional.of(1)),
                List.of(new Request("a", at(10), Duration.ofSeconds(3))),
                WorldSettings.of(1),
                places,
                meter,
                START);
        run.bound(List.of(THREE), at(5));

        run.advanceTo(at(60), rate -> {});

        assertThat(run.requests())
                .singleElement()
                .extracting(RequestResult::completed)
                .isEqualTo(at(17));
        assertThat(meter.computing()).as("GPU-seconds").isCloseTo(3, within(1e-9));
    }
}
