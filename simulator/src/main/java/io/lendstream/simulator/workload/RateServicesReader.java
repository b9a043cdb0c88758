package io.lendstream.simulator.workload;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads {@code --services}: a line a service, with a series of its request rate in an {@code epoch_s,value} file beside
 * it; a column {@code queue} names its queue, {@code floorReplicas} its floor, {@code kindCapacities} and {@code
 * kindWarmUps} its kinds of GPU; for the shapes of its replicas, their memory and the floors of their roles see {@link
 * ListedReplicas}.
 *
 * <p>A series begins with the workload, whatever its own first second; its value times {@code scale} is requests per
 * second. A missing value repeats the one before it.
 */
final class RateServicesReader {
    static final ListColumns COLUMNS = new ListColumns(
                    List.of(
                            "service",
                            "series",
                            "secondsPerRequest",
                            "replicaCapacityPerSecond",
                            "sloMs",
                            "warmUpSeconds",
                            "scale"),
                    List.of("queue", "floorReplicas"))
            .and(ListedKinds.OF_SERVICES)
            .and(ListedReplicas.COLUMNS);

    private RateServicesReader() {}

    static boolean knows(List<String> header) {
        return COLUMNS.areIn(header);
    }

    static Workload read(Path file, Scene scene) {
        return new Workload(DeepBootReader.nameOf(file), scene.start(), List.of(), loads(COLUMNS.read(file), scene));
    }

    /** The services of some rows; their series are beside the file of the rows. */
    static List<ServiceLoad> loads(List<CsvRow> rows, Scene scene) {
        List<ServiceLoad> loads = new ArrayList<>();
        for (CsvRow row : rows) {
            if (row.text("service").isEmpty()) {
                throw row.bad("service", "a name");
            }
            Path series = series(row);
            double capacity = row.number("replicaCapacityPerSecond", 0);
            if (capacity <= 0) {
                throw row.bad("replicaCapacityPerSecond", "a number above 0");
            }
            InferenceService spec = new InferenceService(
                    new ServiceId(row.text("service")),
                    scene.domain(),
                    scene.start(),
                    List.of(row.text("service")),
                    Duration.ofMillis(row.whole("sloMs", 1)),
                    capacity,
                    Optional.empty(),
                    row.text("floorReplicas").isEmpty() ? 0 : row.whole("floorReplicas", 0),
                    Duration.ofMillis(Math.round(1000 * row.number("warmUpSeconds", 0))),
                    ListedReplicas.memoryOfOneGpu(row));
            loads.add(new ServiceLoad(
                    row.queue()
                            .map(spec::in)
                            .orElse(spec)
                            .onKinds(ListedKinds.capacities(row, scene))
                            .inShapes(ListedReplicas.shapes(row))
                            .withFloors(ListedReplicas.floors(row)),
                    rates(series, scene, row.number("scale", 0), row.number("secondsPerRequest", 0))));
        }
        return loads;
    }

    private static Path series(CsvRow row) {
        Path series = row.file().toAbsolutePath().resolveSibling(row.text("series"));
        if (row.text("series").isEmpty() || !Files.isRegularFile(series)) {
            throw row.bad(
                    "series", "a file with epoch_s,value beside this one, but there is no file %s".formatted(series));
        }
        return series;
    }

    private static Demand.Rates rates(Path series, Scene scene, double scale, double secondsPerRequest) {
        List<CsvRow> rows = CsvTable.read(series, "epoch_s", "value").rows();
        if (rows.size() < 2) {
            throw new IllegalArgumentException("%s has %d values, expected at least 2".formatted(series, rows.size()));
        }
        double step = rows.get(1).number("epoch_s", 0) - rows.get(0).number("epoch_s", 0);
        if (!(step >= 1)) {
            throw rows.get(1).bad("epoch_s", "a later second than the line before");
        }
        List<Double> perSecond = new ArrayList<>();
        double last = 0;
        for (CsvRow row : rows) {
            String value = row.text("value");
            if (!value.isEmpty() && !value.equalsIgnoreCase("nan")) {
                last = row.number("value", 0) * scale;
            }
            perSecond.add(last);
        }
        return new Demand.Rates(
                scene.start(), Duration.ofMillis(Math.round(step * 1000)), perSecond, 0, secondsPerRequest);
    }
}
