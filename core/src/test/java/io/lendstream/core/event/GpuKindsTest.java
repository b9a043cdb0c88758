package io.lendstream.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The names of kinds, and which of them count as one. */
class GpuKindsTest {
    @ParameterizedTest
    @CsvSource({
        "NVIDIA A100-SXM4-80GB, 81920, A100-SXM4-80GB",
        "NVIDIA A100 80GB PCIe, 81920, A100-80GB-PCIe",
        "NVIDIA H100 PCIe, 81559, H100-PCIe-80GB",
        "NVIDIA H100 80GB HBM3, 81559, H100-80GB-HBM3",
        "Tesla T4, 15360, Tesla-T4-16GB",
        "NVIDIA L4, 23034, L4-24GB",
        "NVIDIA H20, 97871, H20-96GB",
        "NVIDIA H20, 143771, H20-142GB",
        "NVIDIA GH200 480GB, 97871, GH200-480GB-96GB",
        "Tesla V100-SXM2-32GB, 32510, Tesla-V100-SXM2-32GB",
        "test GPU, 0, test-GPU",
        "a=b;c, 0, a-b-c",
    })
    void aKindIsTheProductWithItsMemory(String model, long mebibytes, String kind) {
        assertThat(GpuKinds.named(model, mebibytes << 20)).isEqualTo(new KindId(kind));
    }

    @Test
    void aGpuWithoutAProductNameHasAKindToo() {
        assertThat(GpuKinds.named("", 0)).isEqualTo(new KindId("unknown"));
        assertThat(GpuKinds.named(" ", 16L << 30)).isEqualTo(new KindId("unknown-16GB"));
        assertThat(GpuKinds.named("x".repeat(1000), 0).value()).hasSizeLessThan(249);
    }

    @Test
    void theMemoryOfAKindIsThatOfItsName() {
        assertThat(new KindId("Tesla-T4-16GB").memoryBytes()).contains(16L << 30);
        assertThat(new KindId("A100-80GB-PCIe").hasMemory(80L << 30)).isTrue();
        assertThat(new KindId("A100-80GB-PCIe").hasMemory((80L << 30) + 1)).isFalse();
        assertThat(new KindId("GH200-480GB-96GB").memoryBytes()).contains(96L << 30);
        assertThat(new KindId("test-GPU").memoryBytes()).isEmpty();
        assertThat(new KindId("test-GPU").hasMemory(Long.MAX_VALUE)).isTrue();
    }

    @Test
    void twoKindsMayCountAsOne() {
        GpuKinds kinds = GpuKinds.parse("A100-PCIE-80GB=A100-SXM4-80GB, L4-24GB = Tesla-T4-16GB");
        Gpu pcie = Gpu.whole(new GpuId("g"), 0, "NVIDIA A100-PCIE-80GB", 80L << 30);

        assertThat(kinds.of(pcie)).isEqualTo(new KindId("A100-SXM4-80GB"));
        assertThat(GpuKinds.PLAIN.of(pcie)).isEqualTo(new KindId("A100-PCIE-80GB"));
        assertThat(kinds).hasToString("A100-PCIE-80GB=A100-SXM4-80GB,L4-24GB=Tesla-T4-16GB");
        assertThat(GpuKinds.parse(kinds.toString())).isEqualTo(kinds);
        assertThat(GpuKinds.parse("")).isEqualTo(GpuKinds.PLAIN);
    }

    @Test
    void anAliasThatIsNoneIsNamed() {
        assertThatThrownBy(() -> GpuKinds.parse("A=B,C"))
                .hasMessageContaining("scheduler.kind-aliases must be KIND=KIND pairs")
                .hasMessageContaining("'C'");
        assertThatThrownBy(() -> GpuKinds.parse("A=B,B=C")).hasMessageContaining("names B on both sides");
        assertThatThrownBy(() -> GpuKinds.parse("A=B,A=C")).hasMessageContaining("has A twice on the left side");
        assertThatThrownBy(() -> GpuKinds.parse("Tesla-T4-16GB=L4-24GB"))
                .hasMessageContaining("has Tesla-T4-16GB=L4-24GB, but the right kind must not have more memory");
    }
}
