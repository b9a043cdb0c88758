package io.lendstream.simulator.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.lendstream.core.latency.LatencyFit;
import io.lendstream.core.latency.LatencyModel;
import io.lendstream.core.latency.LatencyPrior;
import io.lendstream.core.latency.LatencySample;
import io.lendstream.core.mig.MigGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Public latency tables are in LENDSTREAM_DATA, or in shared/data beside the project. */
class LatencyTablesTest {
    private final Path data = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../../shared/data"))
            .resolve("mig");

    @TempDir
    private Path directory;

    private List<LatencyTable> tables(String folder, String gpu) {
        assumeThat(data.resolve(folder))
                .as("latency tables; set LENDSTREAM_DATA to the directory that has them")
                .exists();
        return LatencyTables.read(data.resolve(folder), MigGpu.named(gpu).orElseThrow());
    }

    /** Errors of a model that was fitted to a few rows, with what the other models show, on all its other rows. */
    private static List<Double> heldOut(
            List<LatencyTable> tables, LatencyTable table, Predicate<LatencyTable.Row> probed) {
        LatencyPrior prior = LatencyPrior.of(tables.stream()
                .filter(other -> !other.equals(table))
                .map(LatencyTable::samples)
                .toList());
        List<LatencySample> probes =
                table.rows().stream().filter(probed).map(table::sample).toList();
        LatencyModel model = LatencyFit.of(probes, prior);
        return table.rows().stream()
                .filter(probed.negate())
                .map(table::sample)
                .map(sample -> model.millis(sample.slice(), sample.batch(), sample.size()) / sample.millis() - 1)
                .toList();
    }

    static double quantile(List<Double> values, double q) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[(int) Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
    }

    static double mean(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    }

    private static List<Double> absolute(List<Double> errors) {
        return errors.stream().map(Math::abs).toList();
    }

    private static List<Double> tooShort(List<Double> errors) {
        return errors.stream().map(error -> Math.max(0, -error)).toList();
    }

    static Predicate<LatencyTable.Row> fiveProbes(LatencyTable table) {
        return row -> {
            int most = table.largestBatch(row.profile());
            return switch (row.profile().computeSlices()) {
                case 1, 7 -> row.batch() == 1 || row.batch() == most;
                case 3 -> row.batch() == 8;
                default -> false;
            };
        };
    }

    private static boolean isOfFourProbes(LatencyTable.Row row) {
        return switch (row.profile().computeSlices()) {
            case 7 -> (row.batch() == 1 || row.batch() == 256) && row.inputSize() == 64;
            case 1 -> row.batch() == 32 && (row.inputSize() == 32 || row.inputSize() == 512);
            default -> false;
        };
    }

    @Test
    void fiveProbesTellTheLatencyOfVisionModelsAndBert() {
        List<LatencyTable> tables = tables("parvagpu/prof_data", "A100-80GB");
        List<Double> errors = new ArrayList<>();
        for (LatencyTable table : tables) {
            List<Double> ofModel = heldOut(tables, table, fiveProbes(table));
            errors.addAll(ofModel);
            say(table.model(), ofModel);
        }
        say("all", errors);

        assertThat(tables).hasSize(11);
        assertThat(quantile(absolute(errors), .5)).isLessThanOrEqualTo(.035);
        assertThat(mean(absolute(errors))).isLessThanOrEqualTo(.055);
        assertThat(quantile(absolute(errors), .9)).isLessThanOrEqualTo(.13);
        assertThat(quantile(tooShort(errors), .95)).isLessThanOrEqualTo(.1);
    }

    @Test
    void fourProbesTellTheLatencyOfEncodersOfAnyLength() {
        List<LatencyTable> tables = tables("migperf_a100_40gb", "A100-40GB");
        List<Double> errors = new ArrayList<>();
        for (LatencyTable table : tables) {
            List<Double> ofModel = heldOut(tables, table, LatencyTablesTest::isOfFourProbes);
            errors.addAll(ofModel);
            say(table.model(), ofModel);
        }
        say("all", errors);

        assertThat(tables).hasSize(5);
        assertThat(quantile(absolute(errors), .5)).isLessThanOrEqualTo(.028);
        assertThat(mean(absolute(errors))).isLessThanOrEqualTo(.038);
        assertThat(quantile(absolute(errors), .9)).isLessThanOrEqualTo(.092);
        assertThat(quantile(tooShort(errors), .95)).isLessThanOrEqualTo(.1);
    }

    private static void say(String name, List<Double> errors) {
        System.out.printf(
                "latency of %-12s held out %3d: median %.1f %%, mean %.1f %%, p90 %.1f %%, too short p95 %.1f %%%n",
                name,
                errors.size(),
                100 * quantile(absolute(errors), .5),
                100 * mean(absolute(errors)),
                100 * quantile(absolute(errors), .9),
                100 * quantile(tooShort(errors), .95));
    }

    @Test
    void ourOwnFormatIsRead() throws IOException {
        Path file = Files.writeString(
                directory.resolve("own.csv"),
                "model,profile,batch,inputSize,latencyMs\nchat,1g.10gb,1,64,5.5\nchat,7g.80gb,8,,9\n");

        LatencyTable table = LatencyTables.read(file, MigGpu.named("A100-80GB").orElseThrow())
                .get(0);

        assertThat(table.model()).isEqualTo("chat");
        assertThat(table.rows()).extracting(LatencyTable.Row::millis).containsExactly(5.5, 9.0);
        assertThat(table.largestInput()).isEqualTo(64);
    }

    @Test
    void batchesWithoutLatencyAreThoseThatMemoryDidNotSufficeFor() throws IOException {
        MigGpu gpu = MigGpu.named("A100-80GB").orElseThrow();
        Path file = Files.writeString(directory.resolve("own.csv"), """
                model,profile,batch,inputSize,latencyMs
                enc,1g.10gb,8,64,5.5
                enc,1g.10gb,8,512,20
                enc,2g.20gb,12,512,
                """);

        LatencyTable table = LatencyTables.read(file, gpu).get(0);

        assertThat(table.rows()).hasSize(2);
        assertThat(table.memory().largestBatch(1, 1)).isEqualTo(8);
        assertThat(table.memory().largestBatch(2, 1))
                .as("not 16, as 12 did not run")
                .isEqualTo(11);
        assertThat(table.memory().largestBatch(8, 1)).isEqualTo(64);
    }

    @Test
    void tablesThatNameTheirProfilesAreReadAndThoseOfTrainingAreLeftOut() throws IOException {
        String header = ",model_name,batch_size,seq_length,latency,mig_profile\n";
        Files.writeString(directory.resolve("infer.csv"), header + "0,enc,2,64,7.5,1g.10gb\n1,dec,1,128,9,7g.80gb\n");
        Files.writeString(directory.resolve("train_nlp.csv"), header + "0,enc,2,64,70,1g.10gb\n");

        List<LatencyTable> tables =
                LatencyTables.read(directory, MigGpu.named("A100-80GB").orElseThrow());

        assertThat(tables).extracting(LatencyTable::model).containsExactly("dec", "enc");
        assertThat(tables.get(1).rows()).extracting(LatencyTable.Row::millis).containsExactly(7.5);
        assertThat(tables.get(1).largestInput()).isEqualTo(64);
    }

    @Test
    void badLinesAreNamed() throws IOException {
        MigGpu gpu = MigGpu.named("A100-80GB").orElseThrow();
        Path file = Files.writeString(
                directory.resolve("own.csv"), "model,profile,batch,inputSize,latencyMs\nchat,1g.5gb,1,64,5.5\n");

        assertThatThrownBy(() -> LatencyTables.read(file, gpu))
                .hasMessageContainingAll("own.csv, line 2, column profile", "'1g.5gb'", "1g.10gb");
        assertThatThrownBy(() -> LatencyTables.read(Files.createDirectory(directory.resolve("none")), gpu))
                .hasMessageContaining("has no latency tables");
    }
}
