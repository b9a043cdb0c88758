package io.lendstream.simulator.workload;

import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.KindId;
import io.lendstream.core.simulated.SimulatedGpu;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The columns of a job list about kinds of GPU: {@code kinds} that the job may use, {@code kindRatios}, how much faster
 * than in the list it is on a kind, and {@code memoryGib} of a replica. Kinds are short names of products that can be
 * simulated, or names as leases have them, between semicolons.
 */
final class ListedKinds {
    private static final double UNCERTAINTY = 0.2;
    private static final double MOST_GIB = 1e5;

    private ListedKinds() {}

    /** The same job with the needs of its line. */
    static TrainingTask task(TrainingTask task, CsvRow row) {
        Map<KindId, Double> ratios = ratios(row);
        List<KindId> allowed = new ArrayList<>();
        parts(row, "kinds").forEach(name -> allowed.add(kind(row, "kinds", name)));
        int localMax = task.job().traits().batch().localMax();
        List<KindTraits> traits = new ArrayList<>();
        ratios.forEach((kind, factor) -> traits.add(new KindTraits(
                kind,
                Optional.empty(),
                Optional.of(new KindRatio(factor, factor == 1 ? 0 : UNCERTAINTY)),
                Optional.of(localMax))));
        return task.onKinds(new KindNeeds(allowed, Optional.empty(), memory(row), traits), ratios);
    }

    private static Map<KindId, Double> ratios(CsvRow row) {
        Map<KindId, Double> ratios = new TreeMap<>();
        for (String part : parts(row, "kindRatios")) {
            int colon = part.lastIndexOf(':');
            double factor = colon < 0 ? 0 : number(part.substring(colon + 1));
            if (!(factor >= 0.001 && factor <= 1000)) {
                throw row.bad("kindRatios", "KIND:FACTOR between semicolons, with factors from 0.001 to 1000");
            }
            ratios.put(kind(row, "kindRatios", part.substring(0, colon)), factor);
        }
        return ratios;
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text.strip());
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static List<String> parts(CsvRow row, String column) {
        return row.text(column).isEmpty() ? List.of() : List.of(row.text(column).split(";", -1));
    }

    private static KindId kind(CsvRow row, String column, String name) {
        String kind = name.strip();
        Optional<SimulatedGpu> product = SimulatedGpu.named(kind);
        if (product.isPresent()) {
            return product.get().kind();
        }
        try {
            if (kind.chars().noneMatch(Character::isWhitespace)) {
                return new KindId(kind);
            }
        } catch (IllegalArgumentException e) {
            // empty or too long: said below
        }
        throw row.bad(column, "kinds between semicolons, such as %s".formatted(SimulatedGpu.names()));
    }

    private static Optional<Long> memory(CsvRow row) {
        if (row.text("memoryGib").isEmpty()) {
            return Optional.empty();
        }
        double gib = row.above("memoryGib", 0);
        if (gib > MOST_GIB) {
            throw row.bad("memoryGib", "at most %.0f".formatted(MOST_GIB));
        }
        return Optional.of(Math.max(1, Math.round(gib * (1L << 30))));
    }
}
