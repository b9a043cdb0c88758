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
    private static final Pattern MEMORY = Pattern.compile("\\d\\s?GB", Pattern.CASE_INSENSITIVE);
    private static final Pattern OTHER = Pattern.compile("[^A-Za-z0-9._+]+");
    private static final int LONGEST = 200;
    private static final double GIB = 1L << 30;

    public GpuKinds {
        aliases = Map.copyOf(aliases);
        for (KindId other : aliases.values()) {
            if (aliases.containsKey(other)) {
                throw new IllegalArgumentException(
                        "scheduler.kind-aliases names %s on both sides; name the kind that counts on the right side only"
                                .formatted(other));
            }
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
            aliases.put(new KindId(sides[0].strip()), new KindId(sides[1].strip()));
        }
        return new GpuKinds(aliases);
    }

    /** The kind of a GPU. */
    public KindId of(Gpu gpu) {
        KindId own = named(gpu.model(), gpu.memoryBytes());
        return Optional.ofNullable(aliases.get(own)).orElse(own);
    }

    /**
     * The product name without the vendor, with its memory: {@code NVIDIA H100 PCIe} of 80 GiB is
     * {@code H100-PCIe-80GB}. The memory is rounded up to even GiB, because a driver keeps a part of it.
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
        boolean saysMemory = memoryBytes == 0 || MEMORY.matcher(product).find();
        return new KindId(saysMemory ? name : "%s-%dGB".formatted(name, 2 * (long) Math.ceil(memoryBytes / GIB / 2)));
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
