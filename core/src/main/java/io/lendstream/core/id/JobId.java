package io.lendstream.core.id;

/** The name of a training job. */
public record JobId(String value) implements Comparable<JobId> {
    public JobId {
        Names.check("JobId", value);
    }

    @Override
    public int compareTo(JobId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
