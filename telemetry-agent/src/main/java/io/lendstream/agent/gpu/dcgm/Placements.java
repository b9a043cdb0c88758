package io.lendstream.agent.gpu.dcgm;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Derives the positions of instances from their sizes: known only if there is a single possible placement. */
final class Placements {
    private final List<MigPlace> placed = new ArrayList<>();
    private final List<List<MigPlace>> found = new ArrayList<>();

    private Placements() {}

    /**
     * Returns the positions of instances of these sizes, in the same order.
     *
     * @param product product name from the driver, with or without spaces
     * @return empty if no GPU of that name has such sizes, or if several placements are possible: two instances of
     *     one size cannot be distinguished
     */
    static Optional<List<MigPlace>> only(String product, List<String> profiles) {
        Map<String, List<MigPlace>> ways = new HashMap<>();
        for (MigGpu gpu : MigGpu.KNOWN) {
            if (isOf(gpu, product)) {
                of(gpu, profiles)
                        .forEach(way -> ways.put(
                                way.stream()
                                        .map(place -> place.start() + ":"
                                                + place.profile().memorySlices())
                                        .toList()
                                        .toString(),
                                way));
            }
        }
        return ways.size() == 1 ? ways.values().stream().findFirst() : Optional.empty();
    }

    /** Whether a product is, or may be, of this kind: not all names contain the memory size. */
    private static boolean isOf(MigGpu gpu, String product) {
        List<String> said = List.of(product.toUpperCase(Locale.ROOT).split("[^A-Z0-9]+"));
        String memory = gpu.model().substring(gpu.model().lastIndexOf('-') + 1);
        boolean tells = said.stream().anyMatch(word -> word.matches("\\d+GB"));
        return said.contains(gpu.model().substring(0, gpu.model().indexOf('-'))) && (!tells || said.contains(memory));
    }

    private static List<List<MigPlace>> of(MigGpu gpu, List<String> profiles) {
        List<MigProfile> sizes = new ArrayList<>();
        for (String name : profiles) {
            Optional<MigProfile> profile = gpu.profile(name);
            if (profile.isEmpty()) {
                return List.of();
            }
            sizes.add(profile.get());
        }
        Placements search = new Placements();
        search.place(sizes, 0);
        return search.found;
    }

    private void place(List<MigProfile> sizes, int taken) {
        if (placed.size() == sizes.size()) {
            found.add(List.copyOf(placed));
            return;
        }
        MigProfile next = sizes.get(placed.size());
        for (int start : next.starts()) {
            MigPlace place = new MigPlace(next, start);
            if ((place.bits() & taken) == 0 && found.size() < 2) {
                placed.add(place);
                place(sizes, taken | place.bits());
                placed.remove(placed.size() - 1);
            }
        }
    }
}
