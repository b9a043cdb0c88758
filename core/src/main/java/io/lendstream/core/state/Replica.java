package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;

/** A service's replica on a GPU: the key by which replicas are listed service by service. */
public record Replica(ServiceId service, GpuId gpu) implements Comparable<Replica> {
    @Override
    public int compareTo(Replica other) {
        int order = service.compareTo(other.service);
        return order != 0 ? order : gpu.compareTo(other.gpu);
    }
}
