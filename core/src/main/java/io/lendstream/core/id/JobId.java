package io.lendstream.core.id;

import org.jspecify.annotations.Nullable;

/** The name of a training job. */
public record JobId(String value) implements Comparable<JobId> {
    public JobId {
        Names.check("JobId", value);
    }

    /** Written out: it is asked very often, and the generated one is slow before a long warm-up. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof JobId id && value.equals(id.value));
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public int compareTo(JobId other) {
        return this == other ? 0 : value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
