package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;

/** The GPUs of inference in a step: which are free, which are about to be, and which a service has. */
record InferencePool(StepBuilder builder) {
    /** Free GPUs that can be reached, node by node. */
    Iterator<GpuState> free() {
        return StreamSupport.stream(
                        builder.clusterIndex().gpus().free().values().spliterator(), false)
                .filter(gpu -> gpu.pool() == Pool.INFERENCE && builder.isReachable(gpu))
                .iterator();
    }

    /** GPUs that are about to be free. */
    List<GpuState> coming() {
        List<GpuState> coming = new ArrayList<>();
        for (GpuId id : builder.clusterIndex().gpus().owed().values()) {
            GpuState gpu = builder.gpu(id);
            if (gpu.owner().isReleasing()
                    && gpu.pool() == Pool.INFERENCE
                    && gpu.isWhole()
                    && builder.isReachable(gpu)) {
                coming.add(gpu);
            }
        }
        return coming;
    }

    /** The replicas of a service, in whatever state. */
    Iterable<Map.Entry<Replica, GpuState>> replicas(ServiceState service) {
        ServiceId name = service.spec().service();
        List<Map.Entry<Replica, GpuState>> mine = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica : builder.clusterIndex()
                .gpus()
                .replicas()
                .from(key -> key.service().compareTo(name) >= 0)) {
            if (!replica.getKey().service().equals(name)) {
                break;
            }
            mine.add(replica);
        }
        return mine;
    }
}
