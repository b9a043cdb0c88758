package io.lendstream.simulator.workload;

import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.KindId;
import io.lendstream.core.simulated.SimulatedGpu;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The columns of a job list about kinds of GPU: {@code kinds} that the job may use, {@code kindRatios}, how much faster
 * than in the list it is on a kind, {@code memoryGib} of a replica, and {@code sliceMemoryGib} of a MIG instance that
 * is enough for one. In a list of services {@code kindCapacities} are the requests per second of a replica on the kinds
 * that the service uses, preferred ones first, and {@code kindWarmUps} its warm-ups there in seconds. Kinds are short
 * names of products that can be simulated, or names as leases have them, between semicolons.
 */
final class ListedKinds {
    private static final String MEMORY = "memoryGib";
    private static final String SLICE_MEMORY = "sliceMemoryGib";
    static final List<String> OF_JOBS = List.of("kinds", "kindRatios", MEMORY, SLICE_MEMORY);
    static final List<String> OF_SERVICES = List.of("kindCapacities", "kindWarmUps");

    private static final double UNCERTAINTY = 0.2;
    private static final double MOST_GIB = 1e5;
    private static final double MOST_PER_SECOND = 1e9;
    private static final double DAY_SECONDS = 86_400;

    private ListedKinds() {}

    /** The same job with the needs of its line. */
    static TrainingTask task(TrainingTask task, CsvRow row, Scene scene) {
        Map<KindId, Double> ratios = new TreeMap<>(numbers(row, "kindRatios", 0.001, 1000, scene));
        List<KindId> allowed = new ArrayList<>();
        parts(row, "kinds").forEach(name -> allowed.add(kind(row, "kinds", name, scene)));
        int localMax = task.job().traits().batch().localMax();
        List<KindTraits> traits = new ArrayList<>();
        ratios.forEach((kind, factor) -> traits.add(new KindTraits(
                kind,
                Optional.empty(),
                Optional.of(new KindRatio(factor, factor == 1 ? 0 : UNCERTAINTY)),
                Optional.of(localMax))));
        return task.onKinds(new KindNeeds(allowed, Optional.empty(), memory(row), traits), ratios);
    }

    /** The kinds that a service uses, by its line. */
    static List<KindCapacity> capacities(CsvRow row, Scene scene) {
        Map<KindId, Double> warmUps = numbers(row, "kindWarmUps", 0, DAY_SECONDS, scene);
        Map<KindId, Double> perSecond = numbers(row, "kindCapacities", 0.001, MOST_PER_SECOND, scene);
        if (!perSecond.keySet().containsAll(warmUps.keySet())) {
            throw row.bad("kindWarmUps", "kinds that kindCapacities names too");
        }
        List<KindCapacity> capacities = new ArrayList<>();
        perSecond.forEach((kind, rate) -> {
            KindCapacity capacity = KindCapacity.of(kind, rate);
            capacities.add(Optional.ofNullable(warmUps.get(kind))
                    .map(seconds -> capacity.warmingUpIn(Duration.ofMillis(Math.round(1000 * seconds))))
                    .orElse(capacity));
        });
        return capacities;
    }

    /** Numbers of kinds, in the order of the line. */
    private static Map<KindId, Double> numbers(CsvRow row, String column, double least, double most, Scene scene) {
        Map<KindId, Double> numbers = new LinkedHashMap<>();
        for (String part : parts(row, column)) {
            int colon = part.lastIndexOf(':');
            double number = colon < 0 ? -1 : number(part.substring(colon + 1));
            if (!(number >= least && number <= most)) {
                throw row.bad(
                        column,
                        column.equals("kindRatios")
                                ? "KIND:FACTOR between semicolons, with factors from 0.001 to 1000"
                                : "KIND:NUMBER between semicolons, with numbers from %s to %.0f"
                                        .formatted(least, most));
            }
            numbers.put(kind(row, column, part.substring(0, colon), scene), number);
        }
        return numbers;
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text.strip());
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static List<String> parts(CsvRow row, String column) {
        return row.text(column).isEmpty() ? List.of() : List.of(row.text(column).split(";", -1));
    }

    /**
     * A kind by the short name of a product, or by its name in leases. If the nodes are known, one of them has it: a
     * misspelled name would keep GPUs from a tenant without a word.
     */
    static KindId kind(CsvRow row, String column, String name, Scene scene) {
        KindId kind = named(row, column, name);
        if (!scene.products().isEmpty()
                && scene.products().stream().noneMatch(product -> product.kind().equals(kind))) {
            throw row.bad(
                    column,
                    "only kinds of GPU that nodes have (%s), but no node has %s; correct the name, or add such nodes with --kinds or the field kinds of the section cluster"
                            .formatted(
                                    scene.products().stream().map(Enum::name).collect(Collectors.joining(", ")),
                                    name.strip()));
        }
        return kind;
    }

    private static KindId named(CsvRow row, String column, String name) {
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
        throw row.bad(column, "names of kinds, several between semicolons, such as %s".formatted(SimulatedGpu.names()));
    }

    /** The same job, which may borrow a MIG instance with the memory in its line. */
    static TrainingTask onSlices(TrainingTask task, CsvRow row) {
        Optional<Long> bytes = memory(row, SLICE_MEMORY);
        if (bytes.isEmpty()) {
            return task;
        }
        if (!task.job().startsOnOne()) {
            throw row.bad(
                    SLICE_MEMORY,
                    "nothing, because the job cannot start on one GPU, and only such a job borrows a MIG instance; leave it out, or let the job start on one (gpus, minGpus, sizes, multipleOf, wholeNodes)");
        }
        if (memory(row).filter(least -> least > bytes.get()).isPresent()) {
            throw row.bad(SLICE_MEMORY, "at least memoryGib, %s, or no such field".formatted(row.text(MEMORY)));
        }
        return task.with(task.job().onSlicesOf(bytes.get()));
    }

    /** The memory of a replica, in bytes. */
    static Optional<Long> memory(CsvRow row) {
        return memory(row, MEMORY);
    }

    private static Optional<Long> memory(CsvRow row, String column) {
        if (row.text(column).isEmpty()) {
            return Optional.empty();
        }
        double gib = row.above(column, 0);
        if (gib > MOST_GIB) {
            throw row.bad(column, "at most %.0f".formatted(MOST_GIB));
        }
        return Optional.of(Math.max(1, Math.round(gib * (1L << 30))));
    }
}
