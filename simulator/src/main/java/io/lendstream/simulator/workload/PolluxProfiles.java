package io.lendstream.simulator.workload;

import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Measured applications in the layout of the Pollux simulator: a directory an application with {@code placements.csv},
 * {@code scalability.csv} and {@code validation-<batch>.csv}. Each is read, and its model fitted, once.
 */
final class PolluxProfiles {
    private static final Pattern VALIDATION = Pattern.compile("validation-(\\d+)\\.csv");
    private static final int MOST_MEASURED_PER_NODE = 4;

    private final Path directory;
    private final Map<String, Profile> read = new HashMap<>();

    /**
     * An application as measured.
     *
     * @param known the model that fits it best, with its gradient noise at the beginning: what a scheduler knows
     */
    record Profile(GroundTruth truth, GoodputProfile known) {}

    PolluxProfiles(Path directory) {
        this.directory = directory;
    }

    Profile of(PolluxApplication application) {
        Profile known = read.get(application.name());
        if (known == null) {
            known = read(application);
            read.put(application.name(), known);
        }
        return known;
    }

    private Profile read(PolluxApplication application) {
        Path folder = directory.resolve(application.name());
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException(
                    "there are no profiles of application %s: %s is no directory; give --profiles a directory with one directory an application"
                            .formatted(application.name(), folder));
        }
        StepTimes times = new StepTimes();
        readPlacements(folder.resolve("placements.csv"), times);
        Path scalability = folder.resolve("scalability.csv");
        if (Files.exists(scalability)) {
            readScalability(scalability, times);
        }
        GroundTruth truth = truth(folder, application, times);
        BatchRange batch = application.batch();
        var known =
                new GoodputProfile(LeastSquaresThroughput.of(times.measurements()), truth.noise(0, batch.initial()));
        return new Profile(truth, known);
    }

    private static void readPlacements(Path file, StepTimes times) {
        CsvTable table = CsvTable.read(file, "placement", "local_bsz", "step_time", "sync_time");
        for (CsvRow row : table.rows()) {
            String digits = row.text("placement");
            if (!digits.matches("[1-9]+")) {
                throw row.bad("placement", "the number of GPUs on each node as a digit from 1 to 9, such as 1124");
            }
            List<Integer> gpus =
                    digits.chars().map(digit -> digit - '0').boxed().toList();
            GpusByNode placement = GpusByNode.of(gpus);
            int batch = row.whole("local_bsz", 1);
            StepTime time = time(row);
            times.addAt(placement, batch, time);
            // Rows with more GPUs on a node repeat the times of others and were not measured.
            if (gpus.stream().allMatch(count -> count <= MOST_MEASURED_PER_NODE)) {
                times.addAt(placement.nodes(), placement.replicas(), batch, time);
            }
        }
    }

    private static void readScalability(Path file, StepTimes times) {
        CsvTable table = CsvTable.read(file, "num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time");
        for (CsvRow row : table.rows()) {
            int nodes = row.whole("num_nodes", 1);
            times.addAt(nodes, row.whole("num_replicas", nodes), row.whole("local_bsz", 1), time(row));
        }
    }

    private static StepTime time(CsvRow row) {
        double step = row.number("step_time", 0);
        double sync = row.number("sync_time", 0);
        if (step <= 0) {
            throw row.bad("step_time", "a number above 0");
        }
        if (sync > step) {
            throw row.bad("sync_time", "no more than the step_time of " + step);
        }
        return new StepTime(step, sync);
    }

    private static GroundTruth truth(Path folder, PolluxApplication application, StepTimes times) {
        Map<Integer, List<GradientNoise>> noise = new TreeMap<>();
        List<Double> progress = new ArrayList<>();
        for (Path file : validations(folder)) {
            Matcher name = VALIDATION.matcher(file.getFileName().toString());
            if (!name.matches()) {
                continue;
            }
            CsvTable table = CsvTable.read(file, "progress", "grad_sqr", "grad_var");
            if (table.rows().size() < application.epochs()) {
                throw new IllegalArgumentException("%s has %d epochs, but %s trains %d"
                        .formatted(file, table.rows().size(), application.name(), application.epochs()));
            }
            List<GradientNoise> epochs = new ArrayList<>();
            for (int epoch = 0; epoch < application.epochs(); epoch++) {
                CsvRow row = table.rows().get(epoch);
                double done = row.number("progress", 0);
                if (epoch < progress.size()) {
                    progress.set(epoch, Math.min(progress.get(epoch), done));
                } else {
                    progress.add(done);
                }
                epochs.add(new GradientNoise(row.number("grad_sqr", 0), row.number("grad_var", 0)));
            }
            noise.put(Integer.parseInt(name.group(1)), epochs);
        }
        if (noise.isEmpty()) {
            throw new IllegalArgumentException("there is no validation-<batch>.csv in " + folder);
        }
        return new TabularTruth(times, noise, progress);
    }

    private static List<Path> validations(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file ->
                            VALIDATION.matcher(file.getFileName().toString()).matches())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + folder + ": " + e.getMessage(), e);
        }
    }
}
