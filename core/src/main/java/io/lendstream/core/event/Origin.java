package io.lendstream.core.event;

/** Where a record stood in Kafka. */
public record Origin(String topic, int partition, long offset) {
    @Override
    public String toString() {
        return topic + "-" + partition + "@" + offset;
    }
}
