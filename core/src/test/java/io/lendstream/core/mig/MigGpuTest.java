package io.lendstream.core.mig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InstanceProfile;
import io.lendstream.core.id.GpuId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MigGpuTest {
    @ParameterizedTest
    @CsvSource({
        "NVIDIA A30, 24576, A30-24GB",
        "NVIDIA A100-SXM4-40GB, 40960, A100-40GB",
        "A100-PCIE-40GB, 40960, A100-40GB",
        "NVIDIA A100-SXM4-80GB, 81920, A100-80GB",
        "NVIDIA A100 80GB PCIe, 81920, A100-80GB",
        "NVIDIA H100 80GB HBM3, 81559, H100-SXM5-80GB",
        "NVIDIA H100 PCIe, 81559, H100-PCIe-80GB",
        "NVIDIA H100 NVL, 95830, H100-NVL-94GB",
        "NVIDIA H200, 143771, H200-141GB",
        "NVIDIA H200 NVL, 143771, H200-141GB",
        "NVIDIA B200, 183359, B200-180GB"
    })
    void isFoundByTheNameAndMemoryThatNvmlGives(String product, long mebibytes, String model) {
        assertThat(MigGpu.ofProduct(product, mebibytes << 20).map(MigGpu::model))
                .contains(model);
    }

    @ParameterizedTest
    @CsvSource({
        "NVIDIA A10, 23028",
        "NVIDIA GH200 480GB, 97871",
        "NVIDIA A100-SXM-64GB, 65536",
        "NVIDIA A100-SXM4-80GB, 0",
        "Tesla V100-SXM2-32GB, 32510",
        "test GPU, 81920"
    })
    void isNotGuessed(String product, long mebibytes) {
        assertThat(MigGpu.ofProduct(product, mebibytes << 20)).isEmpty();
    }

    @Test
    void whatTheDriverTellsCountsAndNotOurTable() {
        Gpu a100 = Gpu.whole(new GpuId("g"), 0, "NVIDIA A100-SXM4-80GB", 80L << 30);
        Gpu unknown = Gpu.whole(new GpuId("g"), 0, "NVIDIA X1", 96L << 30);
        InstanceProfile half = new InstanceProfile("3g.40gb", 9, 3, 4, 40L << 30, 42, List.of(4, 0), 2);
        InstanceProfile whole = new InstanceProfile("7g.80gb", 0, 7, 8, 0, 98, List.of(0), 1);

        MigGpu told = telling(a100, half, whole).kind().orElseThrow();
        assertThat(told.model()).isEqualTo("A100-80GB");
        assertThat(told.profiles()).extracting(MigProfile::name).containsExactly("7g.80gb", "3g.40gb");
        assertThat(told.profiles().get(1).starts()).containsExactly(0, 4);
        assertThat(MigLayouts.of(told)
                        .isLegal(List.of(
                                new MigPlace(told.profiles().get(1), 0),
                                new MigPlace(told.profiles().get(1), 4))))
                .isTrue();
        assertThat(a100.kind()).isEqualTo(MigGpu.named("A100-80GB"));
        assertThat(unknown.kind()).isEmpty();
        assertThat(telling(unknown, half, whole).kind().map(MigGpu::memorySlices))
                .contains(8);
    }

    @Test
    void aProfileThatNoGpuCanHaveIsRefused() {
        assertThatThrownBy(() -> new InstanceProfile("9g", 0, 3, 4, 0, 0, List.of(5), 1))
                .hasMessageContaining("ends at memory slice 9");
    }

    private static Gpu telling(Gpu gpu, InstanceProfile... profiles) {
        return new Gpu(
                gpu.gpuId(),
                gpu.index(),
                gpu.model(),
                gpu.memoryBytes(),
                gpu.pciBusId(),
                false,
                List.of(),
                true,
                List.of(profiles));
    }
}
