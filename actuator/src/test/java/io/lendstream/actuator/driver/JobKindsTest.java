package io.lendstream.actuator.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.Order;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JobKindsTest {
    private static final JobId JOB = Orders.JOB.jobId().orElseThrow();
    private static final KindId T4 = new KindId("Tesla-T4-16GB");
    private static final KindId A100 = new KindId("A100-SXM4-80GB");
    private static final Map<GpuId, Device> DEVICES = Map.of(
            new GpuId("GPU-t"), device("GPU-t", "Tesla T4", 16),
            new GpuId("GPU-u"), device("GPU-u", "Tesla T4", 16),
            new GpuId("GPU-a"), device("GPU-a", "NVIDIA A100-SXM4-80GB", 80),
            new GpuId("GPU-a/4:4"), new Device(20, Optional.of("MIG-7"), Optional.empty()));

    private final JobKinds kinds = new JobKinds(new ClusterLookup() {
        @Override
        public Optional<TrainingJob> job(JobId job) {
            return Optional.empty();
        }

        @Override
        public Optional<Device> device(GpuId unit) {
            return Optional.ofNullable(DEVICES.get(unit));
        }
    });

    private static Device device(String name, String model, int gib) {
        return Device.of(Gpu.whole(new GpuId(name), 0, model, (long) gib << 30));
    }

    private static Order.Place order(int decision, List<GpuId> units, List<GpuId> leaving) {
        return Orders.place(decision, Orders.JOB, units, leaving);
    }

    @Test
    void aJobOnGpusOfOneKindComputesOnIt() {
        assertThat(kinds.of(JOB, order(1, Orders.gpus("GPU-t", "GPU-u"), List.of())))
                .contains(T4);
        assertThat(kinds.of(JOB, order(2, Orders.gpus("GPU-t"), Orders.gpus("GPU-u"))))
                .as("during a change on one kind")
                .contains(T4);
    }

    @Test
    void theKindIsOpenWhileItChanges() {
        kinds.inForce(JOB, Orders.decision(1));
        Order.Place change = order(2, Orders.gpus("GPU-a"), Orders.gpus("GPU-t"));

        assertThat(kinds.of(JOB, change)).isEmpty();

        kinds.inForce(JOB, Orders.decision(2));
        assertThat(kinds.of(JOB, change)).contains(A100);

        kinds.over(JOB);
        assertThat(kinds.of(JOB, change)).isEmpty();
    }

    @Test
    void anInstanceAndAnUnknownGpuHaveNoKind() {
        assertThat(kinds.of(JOB, order(1, Orders.gpus("GPU-a/4:4"), List.of()))).isEmpty();
        assertThat(kinds.of(JOB, order(1, Orders.gpus("GPU-t", "GPU-z"), List.of())))
                .isEmpty();
        assertThat(kinds.of(JOB, order(1, List.of(), List.of()))).isEmpty();
    }
}
