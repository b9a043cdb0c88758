package io.lendstream.agent.users;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** A source of GPU users. Problems are part of the result, never thrown. */
public interface UserSource extends AutoCloseable {
    /** The users of the given GPUs. */
    Answer of(GpuSnapshot sight);

    @Override
    void close();

    /**
     * The result of a source.
     *
     * @param users by GPU or MIG instance; a device that is neither here nor in {@code doubtful} has no user
     * @param doubtful GPUs and instances with incompletely known users
     * @param why the problem, for operators; empty without one
     */
    record Answer(Map<GpuId, Set<String>> users, Set<GpuId> doubtful, String why) {
        public Answer {
            users = Map.copyOf(users);
            doubtful = Set.copyOf(doubtful);
        }

        /** A result without any knowledge. */
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
