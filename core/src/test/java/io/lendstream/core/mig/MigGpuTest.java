package io.lendstream.core.mig;

import static org.assertj.core.api.Assertions.assertThat;

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
}
