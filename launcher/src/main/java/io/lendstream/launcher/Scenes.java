package io.lendstream.launcher;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import java.nio.file.Path;
import java.util.Optional;

/** The cluster that options describe, as workloads want to know it. */
final class Scenes {
    private Scenes() {}

    static Scene of(
            String domain,
            long seed,
            int nodes,
            int gpusPerNode,
            int trainingNodes,
            Optional<Path> profiles,
            Optional<Path> services) {
        return new Scene(
                new DomainId(domain),
                Workload.EPOCH,
                seed,
                trainingNodes * gpusPerNode,
                (nodes - trainingNodes) * gpusPerNode,
                profiles,
                services,
                false);
    }
}
