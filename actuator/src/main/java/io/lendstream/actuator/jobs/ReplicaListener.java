package io.lendstream.actuator.jobs;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import java.util.List;

/** Hears what becomes of replicas. Called on the host's one thread, so it must not block. */
public interface ReplicaListener {
    /** It answers. */
    void ready(ServiceId service, GpuId gpu);

    /**
     * No process of it is left.
     *
     * @param forced whether it was killed
     * @param code exit code of its program
     * @param lastLines the end of its log
     */
    void gone(ServiceId service, GpuId gpu, boolean forced, int code, List<String> lastLines);
}
