package io.lendstream.agent.users;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** One of those who know who uses GPUs. What goes wrong is said in the answer, never thrown. */
public interface UserSource extends AutoCloseable {
    /** What it knows of the GPUs that were seen. */
    Answer of(GpuSnapshot sight);

    @Override
    void close();

    /**
     * What a source knows.
     *
     * @param users by GPU or MIG instance; nobody uses one that is neither here nor in {@code doubtful}
     * @param doubtful GPUs and instances of which not all users are known
     * @param why what is the matter, for operators; empty where nothing is
     */
    record Answer(Map<GpuId, Set<String>> users, Set<GpuId> doubtful, String why) {
        public Answer {
            users = Map.copyOf(users);
            doubtful = Set.copyOf(doubtful);
        }

        /** Nothing is known of any of them. */
        static Answer nothing(GpuSnapshot sight, String why) {
            var all = new HashSet<GpuId>();
            for (Gpu gpu : sight.gpus()) {
                all.add(gpu.gpuId());
                gpu.instances().stream().map(GpuInstance::gpuId).forEach(all::add);
            }
            return new Answer(Map.of(), all, why);
        }
    }
}
