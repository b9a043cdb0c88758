package io.lendstream.agent.publish;

import io.lendstream.schemas.topics.Topic;
import java.util.List;

/** Accepts records for publication. Never fails: later problems are reported in metrics. */
public interface RecordSink {
    /**
     * Accepts a record.
     *
     * @param remarks words on how it was made
     */
    <T> void publish(Topic<T> topic, String key, T value, List<String> remarks);

    /** Accepts a record without remarks. */
    default <T> void publish(Topic<T> topic, String key, T value) {
        publish(topic, key, value, List.of());
    }
}
