package io.lendstream.simulator.batching;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.simulator.workload.CsvRow;
import io.lendstream.simulator.workload.CsvTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Reads measured latencies: a directory of ParvaGPU's tables ({@code bert.csv}, a file a model) or of MIGPerf's, or one
 * file of ours: {@code model,profile,batch,inputSize,latencyMs}.
 *
 * <p>ParvaGPU rounds latencies to a millisecond: they are worked out of throughputs, which are of one process. Rows of
 * several processes are left out; those of zero throughput are batches that memory did not suffice for, as are ours
 * without latency. Of a point that MIGPerf measured twice the mean counts; its tables of training are left out.
 *
 * @see <a href="https://github.com/MunQ-Lee/ParvaGPU_SC24">ParvaGPU, SC 2024</a>
 * @see <a href="https://github.com/MLSysOps/MIGProfiler">MIGPerf, arXiv 2301.00407</a>
 */
public final class LatencyTables {
    private static final List<String> PARVAGPU = List.of("Mig instance", "Batch size", "Workload Number", "Throughput");
    private static final List<String> MIGPERF =
            List.of("model_name", "seq_length", "batch_size", "latency", "instance_memory");
    /** Of A100-80GB: a file has several models, and names profiles as NVIDIA does. */
    private static final List<String> MIGPERF_PROFILES = List.of("model_name", "batch_size", "latency", "mig_profile");

    private static final List<String> OURS = List.of("model", "profile", "batch", "inputSize", "latencyMs");
    private static final int MIGPERF_GPU_MEMORY = 40;
    /** How MIGPerf names tables of training steps. */
    private static final String TRAINING = "train_";

    private final MigGpu gpu;
    private final Map<String, Map<LatencyTable.Row, List<Double>>> byModel = new TreeMap<>();

    private LatencyTables(MigGpu gpu) {
        this.gpu = gpu;
    }

    /**
     * The tables of a directory or a file, by model.
     *
     * @param gpu that they were measured on
     * @throws IllegalArgumentException if there are none, or a line cannot be read, by file, line and column
     */
    public static List<LatencyTable> read(Path place, MigGpu gpu) {
        LatencyTables tables = new LatencyTables(gpu);
        Set<Path> files = new HashSet<>();
        if (Files.isDirectory(place)) {
            try (Stream<Path> there = Files.list(place)) {
                there.filter(file -> file.toString().matches(".*\\.csv(\\.gz)?"))
                        .filter(file -> !file.getFileName().toString().startsWith(TRAINING))
                        .sorted()
                        .forEach(file -> {
                            if (tables.take(file)) {
                                files.add(file);
                            }
                        });
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read " + place + ": " + e.getMessage(), e);
            }
        } else if (tables.take(place)) {
            files.add(place);
        }
        if (files.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s has no latency tables: no CSV file with the columns %s, those of ParvaGPU (%s) or of MIGPerf (%s)"
                            .formatted(
                                    place,
                                    String.join(",", OURS),
                                    String.join(",", PARVAGPU),
                                    String.join(",", MIGPERF)));
        }
        return tables.tables();
    }

    private boolean take(Path file) {
        List<String> header = CsvTable.header(file);
        if (header.containsAll(PARVAGPU)) {
            parvaGpu(file);
        } else if (header.containsAll(MIGPERF)) {
            migPerf(file);
        } else if (header.containsAll(MIGPERF_PROFILES)) {
            migPerfByProfile(file);
        } else if (header.containsAll(OURS)) {
            ours(file);
        } else {
            return false;
        }
        return true;
    }

    private void parvaGpu(Path file) {
        String model = file.getFileName().toString().replaceFirst("\\.csv(\\.gz)?$", "");
        for (CsvRow row : CsvTable.read(file, PARVAGPU.toArray(String[]::new)).rows()) {
            double perSecond = row.number("Throughput", 0);
            if (row.whole("Workload Number", 1) == 1) {
                int batch = row.whole("Batch size", 1);
                int slices = row.whole("Mig instance", 1);
                MigProfile profile = gpu.plain().profiles().stream()
                        .filter(each -> each.computeSlices() == slices)
                        .findFirst()
                        .orElseThrow(
                                () -> row.bad("Mig instance", "the compute slices of a profile of " + gpu.model()));
                add(model, profile, batch, 1, perSecond > 0 ? Optional.of(1000 * batch / perSecond) : Optional.empty());
            }
        }
    }

    private void migPerf(Path file) {
        String model = file.getFileName()
                .toString()
                .replaceFirst("^infer_(bsz|seq)_", "")
                .replaceFirst("\\.csv(\\.gz)?$", "");
        for (CsvRow row : CsvTable.read(file, MIGPERF.toArray(String[]::new)).rows()) {
            int eighths = row.whole("instance_memory", 1) * gpu.memorySlices() / MIGPERF_GPU_MEMORY;
            MigProfile profile = gpu.plain().profiles().stream()
                    .filter(each -> each.memorySlices() == eighths && each.computeSlices() != 4)
                    .findFirst()
                    .orElseThrow(() -> row.bad("instance_memory", "5, 10, 20 or 40"));
            add(
                    model,
                    profile,
                    row.whole("batch_size", 1),
                    row.whole("seq_length", 1),
                    Optional.of(row.above("latency", 0)));
        }
    }

    private void migPerfByProfile(Path file) {
        boolean sized = CsvTable.header(file).contains("seq_length");
        for (CsvRow row :
                CsvTable.read(file, MIGPERF_PROFILES.toArray(String[]::new)).rows()) {
            int size = sized ? row.whole("seq_length", 1) : 1;
            add(
                    row.text("model_name"),
                    profile(row, "mig_profile"),
                    row.whole("batch_size", 1),
                    size,
                    Optional.of(row.above("latency", 0)));
        }
    }

    private MigProfile profile(CsvRow row, String column) {
        return gpu.profile(row.text(column))
                .orElseThrow(() -> row.bad(
                        column,
                        "one of %s of %s"
                                .formatted(
                                        gpu.profiles().stream()
                                                .map(MigProfile::name)
                                                .toList(),
                                        gpu.model())));
    }

    private void ours(Path file) {
        for (CsvRow row : CsvTable.read(file, OURS.toArray(String[]::new)).rows()) {
            MigProfile profile = profile(row, "profile");
            if (row.text("model").isEmpty()) {
                throw row.bad("model", "a name");
            }
            int size = row.text("inputSize").isEmpty() ? 1 : row.whole("inputSize", 1);
            Optional<Double> millis =
                    row.text("latencyMs").isEmpty() ? Optional.empty() : Optional.of(row.above("latencyMs", 0));
            add(row.text("model"), profile, row.whole("batch", 1), size, millis);
        }
    }

    /** With a measurement, or with a batch that did not run. */
    private void add(String model, MigProfile profile, int batch, int size, Optional<Double> millis) {
        List<Double> measured = byModel.computeIfAbsent(model, any -> new LinkedHashMap<>())
                .computeIfAbsent(new LatencyTable.Row(profile, batch, size, 0), any -> new ArrayList<>());
        millis.ifPresent(measured::add);
    }

    private List<LatencyTable> tables() {
        List<LatencyTable> tables = new ArrayList<>();
        byModel.forEach((model, points) -> {
            List<LatencyTable.Row> rows = new ArrayList<>();
            List<LatencyTable.Row> outOfMemory = new ArrayList<>();
            points.forEach((point, millis) -> {
                if (millis.isEmpty()) {
                    outOfMemory.add(point);
                } else {
                    rows.add(new LatencyTable.Row(
                            point.profile(),
                            point.batch(),
                            point.inputSize(),
                            millis.stream()
                                    .mapToDouble(Double::doubleValue)
                                    .average()
                                    .orElseThrow()));
                }
            });
            tables.add(new LatencyTable(model, gpu, rows, outOfMemory));
        });
        return tables;
    }
}
