package io.lendstream.agent.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.agent.gpu.dcgm.DcgmReader;
import io.lendstream.agent.gpu.dcgm.DcgmReadings;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Quality;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the agent shows by dcgm-exporter's names says to who reads it as such what was seen. */
class GpuPagesTest {
    private static final GpuId WHOLE = new GpuId("GPU-0");
    private static final GpuId CUT = new GpuId("GPU-1");
    private static final GpuId LARGE = new GpuId("GPU-1/0:4");
    private static final GpuId SMALL = new GpuId("GPU-1/4:2");
    private static final GpuId UNSEEN = new GpuId("GPU-2");

    /** A whole GPU, one in two MIG instances, and one in MIG mode whose instances are not known. */
    private static GpuSnapshot machine() {
        String model = "NVIDIA A100-SXM4-80GB";
        List<Gpu> gpus = List.of(
                Gpu.whole(WHOLE, 0, model, 80L << 30),
                Gpu.whole(CUT, 1, model, 80L << 30)
                        .cutInto(List.of(instance(LARGE, "4g.40gb", 0, 4, 1), instance(SMALL, "2g.20gb", 4, 2, 5))),
                Gpu.whole(UNSEEN, 2, model, 80L << 30).cutInto(List.of()));
        List<GpuSample> samples = List.of(
                GpuSample.of(WHOLE)
                        .utilization(.75)
                        .smActivity(.5)
                        .powerWatts(300)
                        .build(),
                GpuSample.of(CUT).powerWatts(143).build(),
                GpuSample.of(LARGE).utilization(.5).smActivity(.25).build(),
                GpuSample.of(SMALL).memoryUsedBytes(1L << 30).build(),
                GpuSample.of(UNSEEN).powerWatts(60).build());
        return new GpuSnapshot(NodeStatus.READY, "", gpus, samples, Optional.empty());
    }

    private static GpuInstance instance(GpuId id, String profile, int start, int size, int number) {
        return new GpuInstance(
                id, profile, start, size, (long) size << 33, Optional.empty(), Optional.of(number), Optional.empty());
    }

    private static GpuSample read(GpuId gpu) {
        DcgmReadings readings = DcgmReader.read(Exposition.parse(GpuPages.dcgm(new NodeId("n1"), machine())));
        return readings.samples().stream()
                .filter(sample -> sample.gpuId().equals(gpu))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void activityIsReadBackAsItWasSeen() {
        assertThat(read(WHOLE).activity().utilization()).contains(.75);
        assertThat(read(WHOLE).activity().smActivity()).contains(.5);
        assertThat(read(LARGE).activity().utilization()).contains(.5);
        assertThat(read(LARGE).activity().smActivity()).contains(.25);
        assertThat(read(CUT).power().powerWatts()).contains(143.0);
    }

    @Test
    void whatWasNotSeenUnderMigIsNotReadBackAsIdle() {
        for (GpuId gpu : List.of(CUT, SMALL, UNSEEN)) {
            assertThat(read(gpu).activity().utilization()).as(gpu.value()).isEmpty();
            assertThat(read(gpu).activity().smActivity()).as(gpu.value()).isEmpty();
            assertThat(read(gpu).activity().utilizationQuality())
                    .as(gpu.value())
                    .isEqualTo(Quality.UNSUPPORTED);
        }
    }

    @Test
    void anInstanceHasNoMetricThatDcgmExporterHasOfWholeGpusAlone() {
        assertThat(GpuPages.dcgm(new NodeId("n1"), machine()).lines())
                .filteredOn(line -> line.startsWith("DCGM_FI_DEV_GPU_UTIL{"))
                .singleElement()
                .satisfies(line -> assertThat(line).contains("UUID=\"GPU-0\"").endsWith(" 75"));
    }

    @Test
    void whichGpusAreInMigModeIsReadBack() {
        DcgmReadings readings = DcgmReader.read(Exposition.parse(GpuPages.dcgm(new NodeId("n1"), machine())));

        assertThat(readings.gpus()).extracting(Gpu::migEnabled).containsExactly(false, true, true);
        assertThat(readings.gpus().get(1).instances())
                .extracting(each -> each.gpuId())
                .containsExactly(LARGE, SMALL);
    }
}
