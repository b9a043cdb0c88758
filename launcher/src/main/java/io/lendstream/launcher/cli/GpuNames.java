package io.lendstream.launcher.cli;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Short names of GPUs for people: node and index, such as {@code node-3/5}. A MIG instance also has its profile and
 * first slice, such as {@code node-3/5:1g.10gb-2}.
 *
 * <p>The names come from the nodes' inventories. A GPU that no inventory has keeps its uuid.
 */
public final class GpuNames {
    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9](?:[A-Za-z0-9_./:-]*[A-Za-z0-9])?");
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    private static final int DIGITS = 10;
    private static final int CANDIDATES = 5;

    private final Map<NodeId, List<String>> byNode = new HashMap<>();
    /** By uuid. */
    private final Map<String, Place> places = new HashMap<>();

    /** The place of a GPU on its node; whole GPUs have no instance. */
    private record Place(String node, int index, int start, String instance) {
        private static final Comparator<Place> ORDER = Comparator.comparing((Place place) -> padded(place.node))
                .thenComparingInt(Place::index)
                .thenComparingInt(Place::start)
                .thenComparing(Place::instance);

        String name() {
            return node + "/" + index + instance;
        }
    }

    /** Takes a node's inventory; a later one of the same node replaces it. */
    public void take(Node node) {
        // A GPU that another node has declared since then keeps its place there.
        byNode.getOrDefault(node.nodeId(), List.of())
                .forEach(uuid -> places.computeIfPresent(
                        uuid, (any, place) -> place.node.equals(node.nodeId().value()) ? null : place));
        List<String> ids = new ArrayList<>();
        for (Gpu gpu : node.gpus()) {
            put(ids, gpu.gpuId(), new Place(node.nodeId().value(), gpu.index(), -1, ""));
            for (GpuInstance instance : gpu.instances()) {
                String suffix = ":%s-%d".formatted(instance.profile(), instance.start());
                put(ids, instance.gpuId(), new Place(node.nodeId().value(), gpu.index(), instance.start(), suffix));
            }
        }
        byNode.put(node.nodeId(), ids);
    }

    private void put(List<String> ids, GpuId gpu, Place place) {
        places.put(gpu.value(), place);
        ids.add(gpu.value());
    }

    /** The short name of a GPU, or its uuid if no inventory has it. */
    public String of(GpuId gpu) {
        return of(gpu.value());
    }

    private String of(String uuid) {
        Place place = places.get(uuid);
        return place == null ? uuid : place.name();
    }

    /** The short names of GPUs in the order of nodes and indexes. */
    public String list(Collection<GpuId> gpus) {
        return gpus.stream().sorted(order()).map(this::of).collect(Collectors.joining(", "));
    }

    /** A text with short names in place of the uuids of known GPUs. */
    public String in(String text) {
        Matcher word = WORD.matcher(text);
        return word.replaceAll(found -> Matcher.quoteReplacement(of(found.group())));
    }

    /** Texts with short names in place of the uuids of known GPUs. */
    public List<String> in(List<String> texts) {
        return texts.stream().map(this::in).toList();
    }

    /** By node, index and slice; numbers in names count as numbers. GPUs without inventory come last, by uuid. */
    public Comparator<GpuId> order() {
        return (one, other) -> {
            Place first = places.get(one.value());
            Place second = places.get(other.value());
            if (first != null && second != null) {
                return Place.ORDER.compare(first, second);
            }
            if (first == null && second == null) {
                return one.compareTo(other);
            }
            return first == null ? 1 : -1;
        };
    }

    /** A node's name for sorting: numbers count as numbers. */
    public static String sortable(NodeId node) {
        return padded(node.value());
    }

    private static String padded(String name) {
        return NUMBER.matcher(name)
                .replaceAll(number ->
                        "0".repeat(Math.max(0, DIGITS - number.group().length())) + number.group());
    }

    /**
     * The GPU that a person names by its uuid, by its short name or by the beginning of its uuid.
     *
     * @param known GPUs that are known without an inventory, such as those with a lease
     * @return the GPU, or one of the given name if no GPU is known by it
     * @throws UserError if several GPUs have this short name, or begin like this
     */
    public GpuId named(String name, Collection<GpuId> known) {
        GpuId exact = new GpuId(name);
        if (places.containsKey(name) || known.contains(exact)) {
            return exact;
        }
        TreeMap<String, GpuId> found = new TreeMap<>();
        TreeSet<GpuId> all = new TreeSet<>(known);
        places.keySet().forEach(uuid -> all.add(new GpuId(uuid)));
        for (GpuId gpu : all) {
            if (of(gpu).equals(name) || gpu.value().startsWith(name)) {
                found.put(gpu.value(), gpu);
            }
        }
        // A GPU stands for its MIG instances, whose uuids begin like its own.
        List<GpuId> distinct = found.values().stream()
                .filter(gpu ->
                        found.keySet().stream().noneMatch(other -> gpu.value().startsWith(other + "/")))
                .toList();
        if (distinct.size() > 1) {
            throw UserError.badUsage("GPU '%s' names %d GPUs: %s%s. Name one of them."
                    .formatted(
                            name,
                            distinct.size(),
                            distinct.stream()
                                    .limit(CANDIDATES)
                                    .map(this::detailed)
                                    .collect(Collectors.joining(", ")),
                            distinct.size() > CANDIDATES ? ", ..." : ""));
        }
        return distinct.isEmpty() ? exact : distinct.get(0);
    }

    /** The short name with the uuid. */
    public String detailed(GpuId gpu) {
        String name = of(gpu);
        return name.equals(gpu.value()) ? name : "%s (%s)".formatted(name, gpu);
    }
}
