package io.lendstream.simulator.results;

import io.lendstream.simulator.report.SeedFigures;
import java.io.BufferedWriter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes {@code seeds.csv}: a line for each run and seed. */
final class SeedsFile {
    static final String NAME = "seeds.csv";

    private SeedsFile() {}

    static void write(WholeFiles files, Map<String, List<SeedFigures>> runs) throws IOException {
        try (BufferedWriter out = files.writer(NAME)) {
            out.write(
                    "run,seed,avgJctSeconds,gain,shareOfPossibleGain,sloMissShare,gpuHoursLent,trainingJobs,completedJobs\n");
            for (Map.Entry<String, List<SeedFigures>> run : runs.entrySet()) {
                for (SeedFigures figures : run.getValue()) {
                    out.write(String.join(
                            ",",
                            Csv.name(run.getKey()),
                            Long.toString(figures.seed()),
                            cell(figures.jctSeconds()),
                            cell(figures.gain()),
                            cell(figures.shareOfGain()),
                            cell(figures.misses()),
                            cell(Optional.of(figures.gpuHoursLent())),
                            Integer.toString(figures.jobs()),
                            Integer.toString(figures.completedJobs())));
                    out.write('\n');
                }
            }
        }
    }

    private static String cell(Optional<Double> value) {
        return value.map(each -> Csv.number(Math.rint(each * 1e6) / 1e6)).orElse("");
    }
}
