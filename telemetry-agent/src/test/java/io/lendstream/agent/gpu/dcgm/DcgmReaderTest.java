package io.lendstream.agent.gpu.dcgm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.Quality;
import io.lendstream.core.persistent.Flat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages in the form of dcgm-exporter's, written for these tests. */
class DcgmReaderTest {
    private static final String WHOLE =
            "gpu=\"%d\",UUID=\"GPU-%d\",pci_bus_id=\"00000000:0%d:00.0\",device=\"nvidia%d\",modelName=\"NVIDIA A100-SXM4-80GB\",%s=\"node-1\"";

    private static String labels(int gpu) {
        return WHOLE.formatted(gpu, gpu, gpu, gpu, "Hostname");
    }

    private static String mig(int gpu, String profile, int id) {
        return labels(gpu) + ",GPU_I_PROFILE=\"%s\",GPU_I_ID=\"%d\"".formatted(profile, id);
    }

    private static String row(String metric, String labels, String value) {
        return "%s{%s} %s\n".formatted(metric, labels, value);
    }

    private static DcgmReadings read(String... rows) {
        return DcgmReader.read(Exposition.parse(String.join("", rows)));
    }

    private static GpuSample sample(DcgmReadings readings, String gpu) {
        return readings.samples().stream()
                .filter(each -> each.gpuId().value().equals(gpu))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aWholeGpuIsReadInSiUnits() {
        DcgmReadings readings = read(
                "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n",
                row("DCGM_FI_DEV_GPU_UTIL", labels(0), "93"),
                row("DCGM_FI_DEV_MEM_COPY_UTIL", labels(0), "37"),
                row("DCGM_FI_DEV_FB_USED", labels(0), "2048"),
                row("DCGM_FI_DEV_FB_FREE", labels(0), "78848"),
                row("DCGM_FI_DEV_FB_RESERVED", labels(0), "1024"),
                row("DCGM_FI_DEV_POWER_USAGE", labels(0), "143.25"),
                row("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", labels(0), "9876543210"),
                row("DCGM_FI_DEV_GPU_TEMP", labels(0), "41"),
                row("DCGM_FI_DEV_SM_CLOCK", labels(0), "1410"),
                row("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", labels(0), "4"),
                row("DCGM_FI_DEV_XID_ERRORS", labels(0), "0"),
                row("DCGM_FI_PROF_PCIE_TX_BYTES", labels(0), "1000000"));

        assertThat(readings.troubles()).isEmpty();
        assertThat(readings.gpus()).singleElement().satisfies(gpu -> {
            assertThat(gpu.gpuId().value()).isEqualTo("GPU-0");
            assertThat(gpu.model()).isEqualTo("NVIDIA A100-SXM4-80GB");
            assertThat(gpu.memoryBytes()).isEqualTo(80L << 30);
            assertThat(gpu.pciBusId()).contains("00000000:00:00.0");
            assertThat(gpu.migEnabled()).isFalse();
        });
        GpuSample sample = sample(readings, "GPU-0");
        assertThat(sample.activity().utilization()).contains(0.93);
        assertThat(sample.activity().utilizationQuality()).isEqualTo(Quality.MEASURED);
        assertThat(sample.activity().memoryUtilization()).contains(0.37);
        assertThat(sample.memory().memoryUsedBytes()).contains(2L << 30);
        assertThat(sample.memory().memoryTotalBytes()).contains(80L << 30);
        assertThat(sample.power().energyJoules()).contains(9876543.21);
        assertThat(sample.clocks().smClockHertz()).contains(1_410_000_000L);
        assertThat(sample.clocks().throttleReasons()).containsExactly("sw-power-cap");
        assertThat(sample.errors().lastXid()).isEmpty();
        assertThat(sample.links().pcieTxBytesPerSecond()).contains(1e6);
    }

    @Test
    void labelsOfPodsAndJobsSayWhoHasAGpuAndTheirAbsenceSaysNothing() {
        String chat = ",namespace=\"ml\",pod=\"chat-0\",container=\"main\"";
        DcgmReadings readings = read(
                row("DCGM_FI_DEV_GPU_TEMP", labels(0) + chat, "41"),
                row("DCGM_FI_DEV_POWER_USAGE", labels(0) + chat, "143"),
                row("DCGM_FI_DEV_GPU_TEMP", labels(1), "41"),
                row("DCGM_FI_DEV_GPU_TEMP", labels(2) + ",hpc_job=\"4711\"", "41"),
                row("DCGM_FI_DEV_FB_USED", mig(3, "4g.40gb", 1) + chat, "38"),
                row("DCGM_FI_DEV_FB_USED", mig(3, "2g.20gb", 5), "38"),
                row("DCGM_FI_DEV_FB_USED", mig(3, "1g.10gb", 13), "38"));

        assertThat(sample(readings, "GPU-0").usedBy()).contains(List.of("kubernetes/ml/chat-0/main"));
        assertThat(sample(readings, "GPU-1").usedBy()).isEmpty();
        assertThat(sample(readings, "GPU-2").usedBy()).contains(List.of("slurm/4711"));
        assertThat(sample(readings, "GPU-3/0:4").usedBy()).contains(List.of("kubernetes/ml/chat-0/main"));
        assertThat(sample(readings, "GPU-3/4:2").usedBy()).isEmpty();
        assertThat(sample(readings, "GPU-3").usedBy())
                .as("of the others nothing is known")
                .isEmpty();

        String code = chat.replace("chat", "code");
        DcgmReadings full = read(
                row("DCGM_FI_DEV_FB_USED", mig(3, "4g.40gb", 1) + chat, "38"),
                row("DCGM_FI_DEV_FB_USED", mig(3, "3g.40gb", 2) + code, "38"));
        assertThat(sample(full, "GPU-3").usedBy())
                .contains(List.of("kubernetes/ml/chat-0/main", "kubernetes/ml/code-0/main"));
    }

    @Test
    void noUtilisationUnderMigIsEverReadAsIdle() {
        DcgmReadings readings = read(
                row("DCGM_FI_DEV_GPU_UTIL", mig(0, "4g.40gb", 1), "0"),
                row("DCGM_FI_DEV_FB_USED", mig(0, "4g.40gb", 1), "38"));

        assertThat(readings.samples()).extracting(each -> each.gpuId().value()).containsExactly("GPU-0", "GPU-0/0:4");
        assertThat(readings.samples()).allSatisfy(sample -> {
            assertThat(sample.activity().utilization()).isEmpty();
            assertThat(sample.activity().utilizationQuality()).isEqualTo(Quality.UNSUPPORTED);
        });
    }

    @Test
    void aGpuInMigModeIsNotIdleThoughTheExporterShowsItAsAWholeOne() {
        DcgmReadings readings = read(
                row("DCGM_FI_DEV_GPU_UTIL", labels(0), "0"),
                row("DCGM_FI_DEV_MEM_COPY_UTIL", labels(0), "0"),
                row("DCGM_FI_DEV_POWER_USAGE", labels(0), "143"),
                row("DCGM_FI_DEV_MIG_MODE", labels(0), "1"),
                row("DCGM_FI_DEV_GPU_UTIL", labels(1), "0"),
                row("DCGM_FI_DEV_MIG_MODE", labels(1), "0"));

        assertThat(sample(readings, "GPU-0").activity().utilization()).isEmpty();
        assertThat(sample(readings, "GPU-0").activity().utilizationQuality()).isEqualTo(Quality.UNSUPPORTED);
        assertThat(sample(readings, "GPU-0").activity().memoryUtilization()).isEmpty();
        assertThat(sample(readings, "GPU-0").power().powerWatts()).contains(143.0);
        assertThat(sample(readings, "GPU-1").activity().utilization()).contains(0.0);
        assertThat(sample(readings, "GPU-1").activity().utilizationQuality()).isEqualTo(Quality.MEASURED);
        assertThat(readings.gpus()).extracting(Gpu::migEnabled).containsExactly(true, false);
        assertThat(readings.troubles())
                .singleElement()
                .satisfies(said -> assertThat(said).contains("GPU-0", "no instance"));
    }

    @Test
    void activityUnderMigIsTheInstancesAndPowerTheGpus() {
        DcgmReadings readings = read(
                row("DCGM_FI_PROF_GR_ENGINE_ACTIVE", mig(0, "4g.40gb", 1), "0.5"),
                row("DCGM_FI_PROF_GR_ENGINE_ACTIVE", mig(0, "2g.20gb", 5), "0.25"),
                row("DCGM_FI_PROF_SM_ACTIVE", mig(0, "2g.20gb", 5), "0.2"),
                row("DCGM_FI_DEV_POWER_USAGE", mig(0, "4g.40gb", 1), "143"),
                row("DCGM_FI_DEV_POWER_USAGE", mig(0, "2g.20gb", 5), "143"));

        assertThat(readings.gpus()).singleElement().satisfies(gpu -> {
            assertThat(gpu.migEnabled()).isTrue();
            assertThat(gpu.instances())
                    .extracting(
                            GpuInstance::profile,
                            GpuInstance::start,
                            each -> each.gpuInstanceId().orElseThrow())
                    .containsExactly(tuple("4g.40gb", 0, 1), tuple("2g.20gb", 4, 5));
        });
        assertThat(sample(readings, "GPU-0/0:4").activity().utilization()).contains(0.5);
        assertThat(sample(readings, "GPU-0/0:4").activity().smActivity()).contains(0.5);
        assertThat(sample(readings, "GPU-0/4:2").activity().utilization()).contains(0.25);
        assertThat(sample(readings, "GPU-0/4:2").activity().smActivity()).contains(0.2);
        assertThat(sample(readings, "GPU-0/4:2").power().powerWatts()).isEmpty();
        assertThat(sample(readings, "GPU-0").power().powerWatts()).contains(143.0);
        assertThat(sample(readings, "GPU-0").activity().utilization()).isEmpty();
    }

    @Test
    void instancesWithSeveralPossiblePlacementsAreLeftOutAndReported() {
        DcgmReadings readings = read(
                row("DCGM_FI_DEV_FB_USED", mig(0, "3g.40gb", 1), "38"),
                row("DCGM_FI_DEV_FB_USED", mig(0, "3g.40gb", 2), "38"));

        assertThat(readings.gpus()).allMatch(Gpu::migEnabled);
        assertThat(readings.gpus().get(0).instances()).isEmpty();
        assertThat(readings.samples()).extracting(each -> each.gpuId().value()).containsExactly("GPU-0");
        assertThat(readings.troubles())
                .singleElement()
                .satisfies(said -> assertThat(said).contains("3g.40gb, 3g.40gb", "Use --backend nvml"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "9223372036854775794",
                "9223372036854775792",
                "2147483632",
                "2147483635",
                "140737488355328",
                "140737488355330",
                "NaN",
                "-1"
            })
    void whatDcgmWritesForBlankIsAbsent(String blank) {
        DcgmReadings readings = read(
                row("DCGM_FI_DEV_MEMORY_TEMP", labels(0), blank),
                row("DCGM_FI_DEV_GPU_UTIL", labels(0), blank),
                row("DCGM_FI_DEV_FB_USED", labels(0), blank));

        GpuSample sample = sample(readings, "GPU-0");
        assertThat(sample.temperature().memoryTemperatureCelsius()).isEmpty();
        assertThat(sample.activity().utilization()).isEmpty();
        assertThat(sample.activity().utilizationQuality()).isEqualTo(Quality.UNSUPPORTED);
        assertThat(sample.memory().memoryUsedBytes()).isEmpty();
    }

    @Test
    void whereUtilisationIsOffTheEnginesActivityStandsForIt() {
        GpuSample sample = sample(read(row("DCGM_FI_PROF_GR_ENGINE_ACTIVE", labels(0), "1.0000001")), "GPU-0");

        assertThat(sample.activity().utilization()).contains(1.0);
    }

    @Test
    void xidsAreTheLastOneAndTheSumOfTheWindowIfThatIsFiveMinutes() {
        DcgmReadings readings = read(
                row("DCGM_FI_DEV_XID_ERRORS", labels(0), "79"),
                row("DCGM_EXP_XID_ERRORS_COUNT", labels(0) + ",window_size_in_ms=\"300000\",xid=\"31\"", "2"),
                row("DCGM_EXP_XID_ERRORS_COUNT", labels(0) + ",window_size_in_ms=\"300000\",xid=\"79\"", "1"),
                row("DCGM_EXP_XID_ERRORS_COUNT", labels(1) + ",window_size_in_ms=\"60000\",xid=\"79\"", "1"));

        assertThat(sample(readings, "GPU-0").errors().lastXid()).contains(79);
        assertThat(sample(readings, "GPU-0").errors().xidsInFiveMinutes()).contains(3);
        assertThat(sample(readings, "GPU-1").errors().xidsInFiveMinutes()).isEmpty();
    }

    @Test
    void metricsOfSeveralNodesAreRefused() {
        assertThatThrownBy(() -> read(
                        row("DCGM_FI_DEV_GPU_TEMP", labels(0), "41"),
                        row(
                                "DCGM_FI_DEV_GPU_TEMP",
                                WHOLE.formatted(1, 1, 1, 1, "hostname").replace("node-1", "node-2"),
                                "41")))
                .hasMessageContaining("several nodes (node-1, node-2)");
    }

    @Test
    void bothSpellingsOfTheHostAreOne() {
        DcgmReadings readings = read(
                row("DCGM_FI_DEV_GPU_TEMP", labels(0), "41"),
                row("DCGM_FI_DEV_GPU_TEMP", WHOLE.formatted(1, 1, 1, 1, "hostname"), "41"));

        assertThat(readings.gpus()).extracting(Gpu::index).containsExactly(0, 1);
    }

    @Test
    void rowsWithoutAUuidArePassedOverAndCounted() {
        DcgmReadings readings = read(row("DCGM_FI_DEV_GPU_TEMP", "gpu=\"0\"", "41"), "# TYPE up gauge\nup 1\n");

        assertThat(readings.gpus()).isEmpty();
        assertThat(readings.troubles()).containsExactly("1 samples have no label UUID and are ignored");
    }

    @Test
    void theDriverIsReportedIfItIsALabel() {
        assertThat(read(row("DCGM_FI_DEV_GPU_TEMP", labels(0) + ",DCGM_FI_DRIVER_VERSION=\"550.54.15\"", "41"))
                        .driverVersion())
                .contains("550.54.15");
    }

    @Test
    void eachRowOfTheMappingIsAFieldOfASampleOrSaysWhyItIsLeftOut() {
        Set<String> fields = Stream.concat(
                        fieldsOf(GpuSample.class), Stream.of("memoryFree", "memoryReserved", "migMode"))
                .collect(Collectors.toSet());

        assertThat(DcgmMapping.rows()).hasSizeGreaterThan(20).allSatisfy(row -> {
            assertThat(row.metric()).startsWith("DCGM_");
            assertThat(row.factor()).isPositive();
            assertThat(row.remark()).isNotBlank();
            assertThat(row.isLeftOut() || fields.contains(row.field())).isTrue();
        });
        assertThat(DcgmMapping.rows().stream().map(row -> List.of(row.metric(), row.field())))
                .doesNotHaveDuplicates();
    }

    /** The fields that a record has on the wire. */
    private static Stream<String> fieldsOf(Class<?> type) {
        return Arrays.stream(type.getRecordComponents())
                .flatMap(each ->
                        each.isAnnotationPresent(Flat.class) ? fieldsOf(each.getType()) : Stream.of(each.getName()));
    }

    @Test
    void theDocumentedTableIsTheMapping() throws IOException {
        String page = Files.readString(Path.of("../docs/agent.md"));

        assertThat(DcgmMapping.rows())
                .allSatisfy(row -> assertThat(page)
                        .contains("| `%s` | %s |"
                                .formatted(row.metric(), row.isLeftOut() ? "–" : "`" + row.field() + "`")));
    }
}
