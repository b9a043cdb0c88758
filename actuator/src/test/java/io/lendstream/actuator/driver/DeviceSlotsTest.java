package io.lendstream.actuator.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.actuator.jobs.Slot;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeviceSlotsTest {
    private static final GpuId WHOLE = new GpuId("GPU-a");
    private static final GpuId INSTANCE = new GpuId("GPU-a/4:4");

    private static ClusterLookup inventory(GpuId known, String name) {
        return new ClusterLookup() {
            @Override
            public Optional<TrainingJob> job(JobId job) {
                return Optional.empty();
            }

            @Override
            public Optional<Device> device(GpuId unit) {
                return unit.equals(known)
                        ? Optional.of(new Device(0, Optional.of(name), Optional.empty()))
                        : Optional.empty();
            }
        };
    }

    @Test
    void aGpuIsFoundByTheInventorysNameOrByItsOwn() throws Exception {
        assertThat(DeviceSlots.of(Orders.gpus("GPU-a", "GPU-b"), inventory(WHOLE, "GPU-123")))
                .containsExactly(new Slot(WHOLE, "GPU-123"), new Slot(new GpuId("GPU-b"), "GPU-b"));
    }

    @Test
    void aMigInstanceNeedsTheInventorysName() throws Exception {
        assertThat(DeviceSlots.of(Orders.gpus("GPU-a/4:4"), inventory(INSTANCE, "MIG-7")))
                .containsExactly(new Slot(INSTANCE, "MIG-7"));
        assertThatThrownBy(() -> DeviceSlots.of(Orders.gpus("GPU-a/4:4"), ClusterLookup.NOTHING))
                .isInstanceOf(Programs.ProgramException.class)
                .hasMessageContaining("without a UUID in the inventory");
    }

    @Test
    void aNameThatIsNoDevicesIsRefused() {
        assertThatThrownBy(() -> DeviceSlots.of(Orders.gpus("GPU-a,GPU-b"), ClusterLookup.NOTHING))
                .isInstanceOf(Programs.ProgramException.class)
                .hasMessageContaining("must be one GPU or instance");
    }
}
