package io.lendstream.core.event;

import io.lendstream.core.id.KindId;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How GPUs are sorted into kinds: by product name and memory. Two kinds may count as one.
 *
 * @param aliases the kind that counts instead of another one
 */
public record GpuKinds(Map<KindId, KindId> aliases) {
    /** No two kinds count as one. */
    public static final GpuKinds PLAIN = new GpuKinds(Map.of());

    private static final Pattern VENDOR = Pattern.compile("^NVIDIA\\s+", Pattern.CASE_INSENSITIVE);
    private static final Pattern MEMORY = Pattern.compile("(\\d{1,5})\\s?GB", Pattern.CASE_INSENSITIVE);
    private static final Pattern OTHER = Pattern.compile("[^A-Za-z0-9._+]+");
    private static final int LONGEST = 200;
    private static final double GIB = 1L << 30;
    /** How far the memory of a driver may be from that in the name, as a share. */
    private static final double TOLERANCE = 0.1;

    public GpuKinds {
        aliases = Map.copyOf(aliases);
        aliases.forEach(GpuKinds::checkMemory);
        for (KindId other : aliases.values()) {
            if (aliases.containsKey(other)) {
                throw new IllegalArgumentException(
                        "scheduler.kind-aliases names %s on both sides; name the kind that counts on the right side only"
                                .formatted(other));
            }
        }
    }

    /** A GPU does not count as one with more memory: jobs and replicas that need it would get too little. */
    private static void checkMemory(KindId own, KindId other) {
        if (other.memoryBytes()
                .filter(bytes -> own.memoryBytes().isPresent() && !own.hasMemory(bytes))
                .isPresent()) {
            throw new IllegalArgumentException(
                    "scheduler.kind-aliases has %s=%s, but the right kind must not have more memory; exchange the two"
                            .formatted(own, other));
        }
    }

    /** Reads {@code KIND=KIND} pairs between commas: the left kind counts as the right one. */
    public static GpuKinds parse(String text) {
        Map<KindId, KindId> aliases = new TreeMap<>();
        for (String pair : text.isBlank() ? new String[0] : text.split(",", -1)) {
            String[] sides = pair.split("=", -1);
            if (sides.length != 2 || sides[0].isBlank() || sides[1].isBlank()) {
                throw new IllegalArgumentException(
                        "scheduler.kind-aliases must be KIND=KIND pairs between commas, such as A100-PCIE-80GB=A100-SXM4-80GB, but has '%s'"
                                .formatted(pair.strip()));
            }
            KindId own = new KindId(sides[0].strip());
            if (aliases.put(own, new KindId(sides[1].strip())) != null) {
                throw new IllegalArgumentException(
                        "scheduler.kind-aliases has %s twice on the left side; leave one of them out".formatted(own));
            }
        }
        return new GpuKinds(aliases);
    }

    /** The kind of a GPU. */
    public KindId of(Gpu gpu) {
        return counted(named(gpu.model(), gpu.memoryBytes()));
    }

    /** The kind that a kind counts as: itself, or the one of its alias. */
    public KindId counted(KindId own) {
        return Optional.ofNullable(aliases.get(own)).orElse(own);
    }

    /**
     * The product name without the vendor, with its memory: {@code NVIDIA H100 PCIe} of 80 GiB is
     * {@code H100-PCIe-80GB}. The memory is rounded up to even GiB, because a driver keeps a part of it. Memory in the
     * product name must be near that of the driver: {@code NVIDIA GH200 480GB} has 96 GiB beside those of its CPU.
     */
    static KindId named(String model, long memoryBytes) {
        String product = VENDOR.matcher(model.strip()).replaceFirst("");
        String name = OTHER.matcher(product).replaceAll("-");
        if (name.isEmpty() || name.equals("-")) {
            name = "unknown";
        }
        if (name.length() > LONGEST) {
            name = name.substring(0, LONGEST);
        }
        boolean saysMemory = memoryBytes == 0 || saysMemory(product, memoryBytes / GIB);
        return new KindId(saysMemory ? name : "%s-%dGB".formatted(name, 2 * (long) Math.ceil(memoryBytes / GIB / 2)));
    }

    private static boolean saysMemory(String product, double gib) {
        return MEMORY.matcher(product)
                .results()
                .anyMatch(memory -> Math.abs(Integer.parseInt(memory.group(1)) - gib) <= TOLERANCE * gib);
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        return aliases.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(alias -> "%s=%s".formatted(alias.getKey(), alias.getValue()))
                .collect(Collectors.joining(","));
    }
}
