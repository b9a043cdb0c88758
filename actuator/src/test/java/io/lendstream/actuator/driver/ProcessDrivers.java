package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Process drivers with their state and programs in one directory. */
final class ProcessDrivers {
    private ProcessDrivers() {}

    /**
     * A driver.
     *
     * @param submitted the jobs that it looks up; may change later
     * @param nodes the nodes of GPUs; may change later
     */
    static ProcessDriver open(
            Path folder,
            Optional<Machine> machine,
            Map<JobId, TrainingJob> submitted,
            Map<GpuId, Node> nodes,
            RecordingListener heard) {
        ClusterLookup surroundings = new ClusterLookup() {
            @Override
            public Optional<TrainingJob> job(JobId job) {
                return Optional.ofNullable(submitted.get(job));
            }

            @Override
            public Optional<Device> device(GpuId unit) {
                return Optional.empty();
            }

            @Override
            public Optional<Node> node(GpuId unit) {
                return Optional.ofNullable(nodes.get(unit));
            }
        };
        return new ProcessDriver(
                new Programs(folder.resolve("programs"), false),
                folder.resolve("state"),
                CleanEnvironment.of(Map.of("PATH", System.getenv("PATH")), List.of()),
                machine,
                surroundings,
                heard,
                InstantSource.system());
    }
}
