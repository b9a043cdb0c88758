package io.lendstream.core.mig;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Predicate;

/**
 * A kind of GPU and the profiles it offers. What we ship is compiled from NVIDIA's guide and listings of
 * {@code nvidia-smi}; a machine's NVML knows better, and an instance of this made from it takes precedence.
 *
 * @param model by which people name it, such as {@code A100-80GB}
 * @param memorySlices slots that instances must not share
 * @param computeSlices slices that instances divide
 * @param sms streaming multiprocessors without MIG
 * @param profiles biggest first
 */
public record MigGpu(String model, int computeSlices, int memorySlices, int sms, List<MigProfile> profiles) {
    private static final List<Integer> ONES = List.of(0, 1, 2, 3, 4, 5, 6);
    private static final List<Integer> PAIRS = List.of(0, 2, 4, 6);
    private static final List<Integer> TWOS = List.of(0, 2, 4);
    private static final List<Integer> HALVES = List.of(0, 4);
    private static final List<Integer> WHOLE = List.of(0);
    private static final double UNKNOWN = 0;

    /** Those that we know of; memory and SMs are left out where listings of the hardware have not been seen. */
    public static final List<MigGpu> KNOWN = List.of(
            new MigGpu(
                    "A30-24GB",
                    4,
                    4,
                    56,
                    List.of(
                            size("4g.24gb", 0, 4, 4, UNKNOWN, 56).at(WHOLE, 1),
                            size("2g.12gb", 5, 2, 2, 11.69, 28).at(List.of(0, 2), 2),
                            size("1g.6gb", 14, 1, 1, 5.81, 14).at(List.of(0, 1, 2, 3), 4),
                            size("1g.6gb+me", 21, 1, 1, 5.81, 14).at(List.of(0, 1, 2, 3), 1))),
            eight(
                    "A100-40GB",
                    108,
                    new int[] {5, 10, 20, 40},
                    new double[] {4.75, 9.625, 19.5, 39.25},
                    14,
                    14,
                    28,
                    42,
                    56,
                    98),
            eight(
                    "A100-80GB",
                    108,
                    new int[] {10, 20, 40, 80},
                    new double[] {9.5, 19.5, 39.25, 79},
                    14,
                    14,
                    28,
                    42,
                    56,
                    98),
            eight(
                    "H100-SXM5-80GB",
                    132,
                    new int[] {10, 20, 40, 80},
                    new double[] {9.75, 19.62, 39.5, 79.25},
                    16,
                    26,
                    32,
                    60,
                    64,
                    132),
            eight(
                    "H100-PCIe-80GB",
                    114,
                    new int[] {10, 20, 40, 80},
                    new double[] {9.75, 19.62, 39.5, 79.25},
                    14,
                    14,
                    30,
                    46,
                    62,
                    114),
            eight(
                    "H100-NVL-94GB",
                    132,
                    new int[] {12, 24, 47, 94},
                    new double[] {UNKNOWN, 21.62, 46.38, 93.12},
                    16,
                    26,
                    32,
                    60,
                    64,
                    132),
            eight(
                    "H200-141GB",
                    132,
                    new int[] {18, 35, 71, 141},
                    new double[] {16, 32.5, UNKNOWN, 140},
                    16,
                    26,
                    32,
                    60,
                    64,
                    132),
            eight("B200-180GB", 148, new int[] {23, 45, 90, 180}, new double[4], 0, 0, 0, 0, 0, 0));

    public MigGpu {
        profiles = profiles.stream()
                .sorted(Comparator.comparingInt(MigProfile::computeSlices)
                        .thenComparingInt(MigProfile::memorySlices)
                        .reversed()
                        .thenComparing(MigProfile::hasMediaEngines)
                        .thenComparing(MigProfile::name))
                .toList();
        for (MigProfile profile : profiles) {
            int end = profile.starts().get(profile.starts().size() - 1) + profile.memorySlices();
            if (end > memorySlices || profile.computeSlices() > computeSlices) {
                throw new IllegalArgumentException(
                        "MIG profile %s ends at memory slice %d of %d and has %d compute slices of %d"
                                .formatted(profile.name(), end, memorySlices, profile.computeSlices(), computeSlices));
            }
        }
    }

    /** One of those we know, by its name or the beginning of it: {@code A100-80GB}, {@code H100-SXM5}. */
    public static Optional<MigGpu> named(String model) {
        return KNOWN.stream().filter(gpu -> gpu.model.startsWith(model)).findFirst();
    }

    /**
     * A known kind by its NVML name: {@code NVIDIA A100-SXM4-80GB} of 80 GiB is an {@code A100-80GB}. Its memory must
     * be within a tenth of the name's; an H100 without NVL or PCIe in its name is an SXM5.
     *
     * @param product name, as NVML gives it
     * @param memoryBytes all of its memory
     */
    public static Optional<MigGpu> ofProduct(String product, long memoryBytes) {
        List<String> said = List.of(product.toUpperCase(Locale.ROOT).split("[^A-Z0-9]+"));
        List<MigGpu> alike = KNOWN.stream()
                .filter(gpu -> said.contains(gpu.words().get(0)) && gpu.hasMemory(memoryBytes))
                .toList();
        return alike.stream()
                .filter(gpu -> said.containsAll(gpu.words()))
                .findFirst()
                .or(() -> alike.stream().findFirst());
    }

    /**
     * The kind that a driver reports. A known kind has its own name and the multiprocessors that we know of.
     *
     * @param product name, as NVML gives it
     * @param memoryBytes all of its memory
     * @param profiles that the driver offers; if it offers none, the known ones
     */
    public static Optional<MigGpu> reported(String product, long memoryBytes, List<MigProfile> profiles) {
        Optional<MigGpu> known = ofProduct(product, memoryBytes);
        if (profiles.isEmpty()) {
            return known;
        }
        int compute =
                profiles.stream().mapToInt(MigProfile::computeSlices).max().orElseThrow();
        int memory = profiles.stream()
                .mapToInt(profile -> profile.memorySlices()
                        + profile.starts().get(profile.starts().size() - 1))
                .max()
                .orElseThrow();
        int largest = profiles.stream()
                .mapToInt(profile -> profile.sms().orElse(0))
                .max()
                .orElseThrow();
        return Optional.of(new MigGpu(
                known.map(MigGpu::model).orElse(product),
                compute,
                memory,
                known.map(MigGpu::sms).orElse(largest),
                profiles));
    }

    /** The name's parts but for the memory: {@code H100} and {@code PCIE}. */
    private List<String> words() {
        List<String> parts = List.of(model.toUpperCase(Locale.ROOT).split("-"));
        return parts.subList(0, parts.size() - 1);
    }

    private boolean hasMemory(long bytes) {
        double gib = Double.parseDouble(model.substring(model.lastIndexOf('-') + 1, model.length() - 2));
        return Math.abs((double) bytes / (1L << 30) - gib) <= gib / 10;
    }

    public Optional<MigProfile> profile(String name) {
        return profiles.stream().filter(profile -> profile.name().equals(name)).findFirst();
    }

    /**
     * The same without instances that have media engines, or more memory than their compute slices have: one profile a
     * size.
     */
    public MigGpu plain() {
        return only(this::isPlain);
    }

    /** The same without instances that have media engines, which a layout of instances for serving does not need. */
    public MigGpu withoutMediaEngines() {
        return only(profile -> !profile.hasMediaEngines());
    }

    /** The same with some of its profiles. */
    public MigGpu only(Predicate<MigProfile> wanted) {
        return new MigGpu(
                model,
                computeSlices,
                memorySlices,
                sms,
                profiles.stream().filter(wanted).toList());
    }

    private boolean isPlain(MigProfile profile) {
        boolean smaller = profiles.stream()
                .anyMatch(other -> other.computeSlices() == profile.computeSlices()
                        && other.memorySlices() < profile.memorySlices());
        return !profile.hasMediaEngines() && !smaller;
    }

    /**
     * GPUs of seven compute and eight memory slices: all but A30. Sizes of memory are for one, two, four and eight
     * slices.
     */
    private static MigGpu eight(String model, int allSms, int[] gb, double[] gib, int... sms) {
        return new MigGpu(
                model,
                7,
                8,
                allSms,
                List.of(
                        size("7g." + gb[3] + "gb", 0, 7, 8, gib[3], sms[5]).at(WHOLE, 1),
                        size("4g." + gb[2] + "gb", 5, 4, 4, gib[2], sms[4]).at(WHOLE, 1),
                        size("3g." + gb[2] + "gb", 9, 3, 4, gib[2], sms[3]).at(HALVES, 2),
                        size("2g." + gb[1] + "gb", 14, 2, 2, gib[1], sms[2]).at(TWOS, 3),
                        size("1g." + gb[1] + "gb", 15, 1, 2, gib[1], sms[1]).at(PAIRS, 4),
                        size("1g." + gb[0] + "gb", 19, 1, 1, gib[0], sms[0]).at(ONES, 7),
                        size("1g." + gb[0] + "gb+me", 20, 1, 1, gib[0], sms[0]).at(ONES, 1)));
    }

    private static Size size(String name, int id, int compute, int memory, double gib, int sms) {
        return new Size(
                name,
                id,
                compute,
                memory,
                gib == UNKNOWN ? OptionalDouble.empty() : OptionalDouble.of(gib),
                sms == 0 ? OptionalInt.empty() : OptionalInt.of(sms));
    }

    /** A profile without the places at which it fits. */
    private record Size(
            String name, int id, int computeSlices, int memorySlices, OptionalDouble memoryGib, OptionalInt sms) {
        MigProfile at(List<Integer> starts, int most) {
            return new MigProfile(name, id, computeSlices, memorySlices, memoryGib, sms, starts, most);
        }
    }
}
