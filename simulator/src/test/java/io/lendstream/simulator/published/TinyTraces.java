package io.lendstream.simulator.published;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Measurements of one application, bert, that can be checked by hand: 2 s a step on any GPUs, 0.5 s of it to synchronise. */
final class TinyTraces {
    /** Work of an epoch, in iterations at the initial batch of 12. */
    static final int EPOCH = 101;

    private TinyTraces() {}

    static Path in(Path directory) throws IOException {
        Path folder = Files.createDirectories(directory.resolve("traces/bert"));
        StringBuilder placements = new StringBuilder("placement,local_bsz,step_time,sync_time\n");
        for (String placement : new String[] {"1", "2", "3", "4", "11", "12", "22"}) {
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
}
