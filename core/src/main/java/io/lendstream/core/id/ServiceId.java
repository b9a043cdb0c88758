package io.lendstream.core.id;

import org.jspecify.annotations.Nullable;

/** The name of an inference service. */
public record ServiceId(String value) implements Comparable<ServiceId> {
    public ServiceId {
        Names.check("ServiceId", value);
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ServiceId id && value.equals(id.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(ServiceId other) {
        return this == other ? 0 : value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
