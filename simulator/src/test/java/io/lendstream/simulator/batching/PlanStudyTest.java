package io.lendstream.simulator.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlanStudyTest {
    private static final MigGpu A100 = MigGpu.named("A100-80GB").orElseThrow().plain();

    @TempDir
    private Path directory;

    /** Invented latencies: a minimum, and above it a line that larger slices shorten. */
    private static LatencyTable table(String model, double floor, double perInput, double exponent) {
        List<LatencyTable.Row> rows = new ArrayList<>();
        for (MigProfile profile : A100.profiles()) {
            for (int batch = 1; batch <= 32 * profile.memorySlices(); batch *= 2) {
                double line = (1 + perInput * batch) / Math.pow(profile.computeSlices(), exponent);
                rows.add(new LatencyTable.Row(profile, batch, 1, Math.max(floor, line)));
            }
        }
        return new LatencyTable(model, A100, rows);
    }

    private static final Map<String, LatencyTable> TABLES = new TreeMap<>(Map.of(
            "vision", table("vision", 4, 1.2, .9),
            "text", table("text", 8, 3, .7),
            "speech", table("speech", 12, 6, .8)));

    private static ServiceLine line(String model, double rate, double slo) {
        return new ServiceLine(model + "-service", model, rate, slo, 1, new TreeMap<>());
    }

    private static PlanStudy.Result study(OptionalInt probes, ServiceLine... lines) {
        return new PlanStudy(
                        A100,
                        TABLES,
                        List.of(),
                        List.of(lines),
                        new PlanStudy.Settings(probes, .05, OptionalInt.empty(), 3, 40_000, 1))
                .run((what, share) -> {});
    }

    private static final ServiceLine[] LINES = {
        line("vision", 2500, 60), line("text", 700, 120), line("speech", 260, 200)
    };

    @Test
    void everyInstanceIsInTimeWhereverItRuns() {
        PlanStudy.Result result = study(OptionalInt.empty(), LINES);

        assertThat(result.plan().gpus())
                .isBetween(result.plan().bounds().gpus(), result.plan().bounds().gpus() + 1);
        assertThat(result.worst(result.expected())).isLessThanOrEqualTo(1);
        assertThat(result.worst(result.played())).isLessThanOrEqualTo(1);
        MigLayouts layouts = MigLayouts.of(A100);
        for (int gpu = 0; gpu < result.plan().gpus(); gpu++) {
            int number = gpu;
            List<MigPlace> places = result.plan().instances().stream()
                    .filter(instance -> instance.gpu() == number)
                    .map(instance -> instance.place())
                    .toList();
            assertThat(layouts.isLegal(places)).as("GPU %d: %s", gpu, places).isTrue();
        }
    }

    @Test
    void fewProbesMakePlansThatHold() {
        PlanStudy.Result all = study(OptionalInt.empty(), LINES);
        PlanStudy.Result few = study(OptionalInt.of(5), LINES);

        assertThat(few.probesUsed()).isBetween(12, 15);
        assertThat(few.worst(few.played())).isLessThanOrEqualTo(1);
        assertThat(few.plan().gpus()).isBetween(all.plan().gpus(), all.plan().gpus() + 1);
    }

    @Test
    void simplerWaysNeedAsManyOrMore() {
        PlanStudy.Result result = study(OptionalInt.empty(), LINES);
        PlanStudy.Comparison others = result.comparison();

        assertThat(others.migOff()).isPresent();
        assertThat(others.migOff().getAsInt()).isGreaterThanOrEqualTo((int)
                Math.ceil(others.migOffFractional().orElseThrow()));
        assertThat(others.uniform()).containsKey("1g.10gb");
        assertThat(others.greedy()).isGreaterThanOrEqualTo(result.plan().gpus());
    }

    @Test
    void batchesOfHalfTheObjectivePromiseMoreThanIsInTime() {
        PlanStudy.Result result = study(OptionalInt.empty(), line("text", 5000, 60));

        assertThat(result.comparison().halfObjective())
                .isLessThanOrEqualTo(result.plan().gpus());
        assertThat(result.comparison().halfObjectiveWorst()).isGreaterThan(1);
        assertThat(result.worst(result.played())).isLessThanOrEqualTo(1);
    }

    @Test
    void burstsNeedMore() {
        ServiceLine calm = line("text", 3000, 100);
        ServiceLine bursty =
                new ServiceLine(calm.service(), "text", calm.ratePerSecond(), calm.sloMillis(), 4, calm.sizes());

        PlanStudy.Result result = study(OptionalInt.empty(), bursty);

        assertThat(result.worst(result.played())).isLessThanOrEqualTo(1);
        assertThat(result.plan().packing().slices())
                .isGreaterThan(study(OptionalInt.empty(), calm).plan().packing().slices());
    }

    @Test
    void anObjectiveThatNoPlanCanMeetIsNamed() {
        assertThatThrownBy(() -> study(OptionalInt.empty(), line("speech", 1, 5)))
                .hasMessage("service speech-service cannot be served on any instance within its objective");
    }

    @Test
    void servicesFilesAreReadWithTheirSizes() throws IOException {
        Files.writeString(directory.resolve("sizes.csv"), "inputSize,weight\n32,3\n512,1\n64,0\n");
        Path file = Files.writeString(
                directory.resolve("services.csv"),
                "service,model,ratePerSecond,sloMs,sizes\nsearch,text,30,100,sizes.csv\nchat,text,5,200,\n");

        List<ServiceLine> lines = ServiceLine.read(file);

        assertThat(lines).extracting(ServiceLine::service).containsExactly("search", "chat");
        assertThat(lines.get(0).sizes()).containsExactly(Map.entry(32, 3.0), Map.entry(512, 1.0));
        assertThat(lines.get(1).sizes()).isEmpty();
        assertThat(lines.get(1).cv2()).isEqualTo(1);
    }

    @Test
    void badServicesAreNamedByLine() throws IOException {
        Path twice = Files.writeString(
                directory.resolve("twice.csv"),
                "service,model,ratePerSecond,sloMs\nchat,text,5,200\nchat,text,5,200\n");
        Path none = Files.writeString(
                directory.resolve("none.csv"), "service,model,ratePerSecond,sloMs\nchat,text,0,200\n");

        assertThatThrownBy(() -> ServiceLine.read(twice))
                .hasMessageContainingAll("twice.csv, line 3, column service", "a name that no other line has");
        assertThatThrownBy(() -> ServiceLine.read(none))
                .hasMessageContainingAll("none.csv, line 2, column ratePerSecond", "above 0");
    }
}
