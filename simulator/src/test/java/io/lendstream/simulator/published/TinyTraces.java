package io.lendstream.simulator.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Measurements of one application, bert, that can be checked by hand: 2 s a step on any GPUs, 0.5 s of it to
 * synchronise. On up to four nodes of up to four GPUs.
 */
final class TinyTraces {
    /** Work of an epoch, in iterations at the initial batch of 12. */
    static final int EPOCH = 101;

    private TinyTraces() {}

    static Path in(Path directory) throws IOException {
        Path folder = Files.createDirectories(directory.resolve("traces/bert"));
        StringBuilder placements = new StringBuilder("placement,local_bsz,step_time,sync_time\n");
        for (String placement : placements()) {
            for (int batch : new int[] {4, 12}) {
                placements.append("%s,%d,2.0,0.5%n".formatted(placement, batch));
            }
        }
        Files.writeString(folder.resolve("placements.csv"), placements);
        for (int batch : new int[] {12, 384}) {
            Files.writeString(
                    folder.resolve("validation-%d.csv".formatted(batch)),
                    "progress,iteration,metric,grad_sqr,grad_var%n%d,%d,1,1.0,0.0%n%d,%d,2,1.0,0.0%n"
                            .formatted(EPOCH, EPOCH, 2 * EPOCH, 2 * EPOCH));
        }
        return folder.getParent();
    }

    /** GPUs by node, turned so that they read smallest. */
    private static Set<String> placements() {
        Set<String> smallest = new TreeSet<>();
        List<String> longer = List.of("");
        for (int nodes = 1; nodes <= 4; nodes++) {
            longer = longer.stream()
                    .flatMap(shorter -> IntStream.rangeClosed(1, 4).mapToObj(gpus -> shorter + gpus))
                    .toList();
            for (String placement : longer) {
                smallest.add(IntStream.range(0, nodes)
                        .mapToObj(first -> placement.substring(first) + placement.substring(0, first))
                        .min(Comparator.naturalOrder())
                        .orElseThrow());
            }
        }
        return smallest;
    }
}
