package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.GoodputModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The errors of our fits are those that docs/workloads.md tells: of the step time, over all measured placements of up
 * to four GPUs a node and batches. The measurements are in LENDSTREAM_DATA, or in shared/data beside the project.
 */
class FitErrorsTest {
    private static final Path PAGE = Path.of("../docs/workloads.md");
    private final Path traces = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../../shared/data"))
            .resolve("deepboot/traces");

    static List<PolluxApplication> applications() {
        return PolluxApplication.ALL;
    }

    @ParameterizedTest
    @MethodSource("applications")
    void theErrorOfAFitIsWhatTheDocumentationTells(PolluxApplication application) throws IOException {
        assumeTrue(Files.isDirectory(traces), () -> "no measurements in " + traces);

        double[] errors = errors(application);
        List<String> row = row(application.name());

        assertThat(row.subList(2, 6))
                .as(
                        "| %s | %d | %.1f | %.1f | %.1f |",
                        application.name(), errors.length, mean(errors), at(errors, .9), at(errors, 1))
                .satisfiesExactly(
                        count -> assertThat(Integer.parseInt(count)).isEqualTo(errors.length),
                        mean -> assertThat(Double.parseDouble(mean)).isCloseTo(mean(errors), within(.06)),
                        most -> assertThat(Double.parseDouble(most)).isCloseTo(at(errors, .9), within(.06)),
                        worst -> assertThat(Double.parseDouble(worst)).isCloseTo(at(errors, 1), within(.06)));
    }

    /** In per cent of the measured step time, ascending. */
    private double[] errors(PolluxApplication application) {
        PolluxProfiles.Profile profile = new PolluxProfiles(traces).of(application);
        GoodputModel model =
                new GoodputModel(profile.known().throughput(), profile.known().noise(), application.batch());
        return CsvTable.read(traces.resolve(application.name()).resolve("placements.csv")).rows().stream()
                .filter(row -> row.text("placement").matches("[1-4]+"))
                .mapToDouble(row -> {
                    List<Integer> gpus = row.text("placement")
                            .chars()
                            .map(digit -> digit - '0')
                            .boxed()
                            .toList();
                    GpusByNode placement = GpusByNode.of(gpus);
                    double measured = row.number("step_time", 0);
                    double told = model.iterationSeconds(
                            placement.nodes(), placement.replicas(), new Batch(row.whole("local_bsz", 1), 0));
                    return 100 * Math.abs(told - measured) / measured;
                })
                .sorted()
                .toArray();
    }

    private static List<String> row(String application) throws IOException {
        return Files.readAllLines(PAGE).stream()
                .filter(line -> line.startsWith("| " + application + " |"))
                .map(line ->
                        Arrays.stream(line.split("\\|", -1)).map(String::trim).toList())
                .findFirst()
                .orElseThrow(() -> new AssertionError("%s has no row for %s".formatted(PAGE, application)));
    }

    private static double mean(double[] errors) {
        return Arrays.stream(errors).average().orElseThrow();
    }

    private static double at(double[] errors, double share) {
        return errors[(int) Math.round(share * (errors.length - 1))];
    }
}
