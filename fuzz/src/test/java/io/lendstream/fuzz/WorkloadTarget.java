package io.lendstream.fuzz;

import io.lendstream.core.id.DomainId;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workloads;
import java.nio.file.Path;

/**
 * A workload's file, in any of the formats. The first byte chooses whether it is a list or YAML, and whether it is read as
 * it is or as a compressed one.
 */
public final class WorkloadTarget {
    private static final Path DIRECTORY = InputFiles.temporary();
    private static final Scene SCENE = Scene.of(new DomainId("d"), 1, 8, 8);

    private WorkloadTarget() {}

    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length == 0) {
            return;
        }
        String name = (data[0] & 2) == 0 ? "workload.csv" : "workload.yaml";
        Path file = DIRECTORY.resolve((data[0] & 1) == 0 ? name : name + ".gz");
        InputFiles.write(file, data, 1);
        try {
            Workloads.load(file.toString(), SCENE);
        } catch (IllegalArgumentException e) {
            InputFiles.needMessage(e);
        }
    }
}
