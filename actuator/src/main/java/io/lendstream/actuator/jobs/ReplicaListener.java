package io.lendstream.actuator.jobs;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import java.util.List;

/** Receives the events of replicas. Called on the host's single thread, so it must not block. */
public interface ReplicaListener {
    /** It answers; with all its GPUs. */
    void ready(ServiceId service, List<GpuId> gpus);

    /**
     * The replica has no process left.
     *
     * @param gpus all its GPUs
     * @param forced whether it was killed
     * @param code exit code of its program
     * @param lastLines the end of its log
     * @param ofProgram whether its program cannot be run on this node
     */
    void gone(ServiceId service, List<GpuId> gpus, boolean forced, int code, List<String> lastLines, boolean ofProgram);
}
