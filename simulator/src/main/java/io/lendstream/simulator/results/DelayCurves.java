package io.lendstream.simulator.results;

import io.lendstream.simulator.report.Delays;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Writes and reads {@code delays.csv}: points of the distributions of delays, from which a report draws its curves. */
public final class DelayCurves {
    /** The last columns of a line: the delay, seconds and the share. */
    private static final int LAST = 3;

    private DelayCurves() {}

    static void write(WholeFiles files, List<RunOutcome> outcomes) throws IOException {
        try (BufferedWriter out = files.writer("delays.csv")) {
            out.write("policy,lending,delay,seconds,share\n");
            for (RunOutcome outcome : outcomes) {
                Summary.Requests requests = Summary.of(outcome).requests();
                String name = ResultFiles.name(outcome);
                write(out, name + ",startDelay", RunFactsOf.delays(requests.startDelaySeconds()));
                write(out, name + ",responseOverhead", RunFactsOf.delays(requests.overheadSeconds()));
            }
        }
    }

    private static void write(BufferedWriter out, String start, Optional<Delays> delays) throws IOException {
        for (Delays.CurvePoint point : delays.map(Delays::curve).orElse(List.of())) {
            out.write("%s,%s,%s\n".formatted(start, Csv.number(point.seconds()), Csv.number(point.share())));
        }
    }

    /**
     * Reads the points of a delay from the file of one run.
     *
     * @param delay {@code startDelay} or {@code responseOverhead}
     */
    public static List<Delays.CurvePoint> read(Path file, String delay) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.skip(1)
                    .map(line -> line.split(",", -1))
                    .filter(cells -> cells.length > LAST && cells[cells.length - LAST].equals(delay))
                    .filter(cells -> !cells[cells.length - 2].isEmpty() && !cells[cells.length - 1].isEmpty())
                    .map(cells -> new Delays.CurvePoint(
                            Double.parseDouble(cells[cells.length - 2]), Double.parseDouble(cells[cells.length - 1])))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be read".formatted(file), e);
        }
    }
}
