package io.lendstream.core.id;

/** The name of an inference service. */
public record ServiceId(String value) implements Comparable<ServiceId> {
    public ServiceId {
        Names.check("ServiceId", value);
    }

    @Override
    public int compareTo(ServiceId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
