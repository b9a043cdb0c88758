package io.lendstream.benchmarks;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.simulator.batching.LatencyTable;
import io.lendstream.simulator.batching.LatencyTables;
import io.lendstream.simulator.batching.ServiceLine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/** What ParvaGPU published (SC 2024): measurements, scenarios and plans. */
record ParvaGpuData(Path directory) {
    /** How many scenarios there are; they count from 1. */
    static final int SCENARIOS = 6;

    List<LatencyTable> tables(MigGpu gpu) {
        return LatencyTables.read(directory.resolve("prof_data"), gpu);
    }

    /** Services of a scenario. */
    List<ServiceLine> scenario(int number, List<LatencyTable> tables) {
        String[] objectives = line(directory.resolve("SLO/SLO_latency.csv"), number);
        String[] rates = line(directory.resolve("SLO/SLO_req_rate.csv"), number);
        List<ServiceLine> lines = new ArrayList<>();
        for (int i = 0; i < tables.size(); i++) {
            if (!rates[i].equals("N/A")) {
                String model = tables.get(i).model();
                lines.add(new ServiceLine(
                        model,
                        model,
                        Double.parseDouble(rates[i]),
                        Double.parseDouble(objectives[i]),
                        1,
                        new TreeMap<>()));
            }
        }
        return lines;
    }

    private static String[] line(Path file, int number) {
        return lines(file).get(number - 1).split(",", -1);
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** GPUs of the plan that ParvaGPU published, which runs up to three processes on an instance. */
    int published(int number) {
        Path file = directory.resolve("deployment/SLO%d_ParvaGPU_deploy.csv".formatted(number));
        return (int) lines(file).stream()
                .skip(1)
                .filter(line -> !line.isBlank())
                .map(line -> Arrays.asList(line.split(",")).subList(0, 2))
                .distinct()
                .count();
    }
}
