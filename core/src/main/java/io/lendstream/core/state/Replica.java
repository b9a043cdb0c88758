package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import org.jspecify.annotations.Nullable;

/** A service's replica on a GPU: the key by which replicas are listed service by service. */
public record Replica(ServiceId service, GpuId gpu) implements Comparable<Replica> {
    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Replica replica && gpu.equals(replica.gpu) && service.equals(replica.service);
    }

    @Override
    public int hashCode() {
        return 31 * service.hashCode() + gpu.hashCode();
    }

    @Override
    public int compareTo(Replica other) {
        int order = service.compareTo(other.service);
        return order != 0 ? order : gpu.compareTo(other.gpu);
    }
}
