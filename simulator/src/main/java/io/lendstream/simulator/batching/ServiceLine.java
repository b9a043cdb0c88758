package io.lendstream.simulator.batching;

import io.lendstream.simulator.workload.CsvRow;
import io.lendstream.simulator.workload.CsvTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * A line of a services file: {@code service,model,ratePerSecond,sloMs[,sizes][,cv2]}.
 *
 * @param model whose latencies the service has
 * @param cv2 squared coefficient of variation of the times between requests; 1, of Poisson, where the file does not say
 * @param sizes weights of input sizes, from a file of {@code inputSize,weight}; empty where all are of the largest
 */
public record ServiceLine(
        String service,
        String model,
        double ratePerSecond,
        double sloMillis,
        double cv2,
        NavigableMap<Integer, Double> sizes) {
    /**
     * All lines of a file; files of sizes are named from where it is.
     *
     * @throws IllegalArgumentException by file, line and column where one cannot be read, or two have one name
     */
    public static List<ServiceLine> read(Path file) {
        List<ServiceLine> lines = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (CsvRow row : CsvTable.read(file, "service", "model", "ratePerSecond", "sloMs")
                .rows()) {
            if (row.text("service").isEmpty() || !names.add(row.text("service"))) {
                throw row.bad("service", "a name that no other line has");
            }
            String sizes = row.text("sizes");
            lines.add(new ServiceLine(
                    row.text("service"),
                    row.text("model"),
                    row.above("ratePerSecond", 0),
                    row.above("sloMs", 0),
                    row.text("cv2").isEmpty() ? 1 : row.above("cv2", 0),
                    sizes.isEmpty() ? new TreeMap<>() : sizes(file.resolveSibling(sizes))));
        }
        if (lines.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s must have a service at least, but has no line below its header".formatted(file));
        }
        return lines;
    }

    private static NavigableMap<Integer, Double> sizes(Path file) {
        NavigableMap<Integer, Double> sizes = new TreeMap<>();
        for (CsvRow row : CsvTable.read(file, "inputSize", "weight").rows()) {
            sizes.merge(row.whole("inputSize", 1), row.number("weight", 0), Double::sum);
        }
        sizes.values().removeIf(weight -> weight == 0);
        if (sizes.isEmpty()) {
            throw new IllegalArgumentException("%s must have a size of a weight above 0, but has none".formatted(file));
        }
        return sizes;
    }
}
