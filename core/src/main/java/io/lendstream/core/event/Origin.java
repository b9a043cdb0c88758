package io.lendstream.core.event;

/** The place of a record in Kafka. */
public record Origin(String topic, int partition, long offset) {
    @Override
    public String toString() {
        return topic + "-" + partition + "@" + offset;
    }
}
