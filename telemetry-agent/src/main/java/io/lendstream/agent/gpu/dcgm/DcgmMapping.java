package io.lendstream.agent.gpu.dcgm;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Maps metrics of dcgm-exporter to fields of a GpuSample: the rows of {@code mapping.csv}. */
public final class DcgmMapping {
    private static final List<Row> ROWS = read();

    private DcgmMapping() {}

    /**
     * The mapping of one metric.
     *
     * @param metric the exporter's name
     * @param field component of {@link io.lendstream.core.event.GpuSample}
     * @param factor multiplied with the exporter's value
     * @param ofInstances whether a MIG instance has its own value; otherwise it is the whole GPU's
     * @param remark the exporter's unit, and caveats
     */
    public record Row(String metric, String field, double factor, boolean ofInstances, String remark) {
        /** Whether the metric is known and ignored. */
        public boolean isLeftOut() {
            return field.equals("-");
        }
    }

    /** In order: of several metrics for a field, the first available one counts. */
    public static List<Row> rows() {
        return ROWS;
    }

    private static List<Row> read() {
        try (InputStream file = DcgmMapping.class.getResourceAsStream("mapping.csv")) {
            if (file == null) {
                throw new IllegalStateException("mapping.csv is missing beside " + DcgmMapping.class.getName());
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(DcgmMapping::row)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Row row(String line) {
        String[] cells = line.split(",", 5);
        return new Row(cells[0], cells[1], Double.parseDouble(cells[2]), cells[3].equals("instance"), cells[4]);
    }
}
