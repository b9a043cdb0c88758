package io.lendstream.agent.publish;

import io.lendstream.schemas.topics.Topic;
import java.util.List;

/** Takes records that are to be known. Never fails: what happens to them later is told in metrics. */
public interface RecordSink {
    /**
     * Takes a record.
     *
     * @param remarks words on how it came to be
     */
    <T> void publish(Topic<T> topic, String key, T value, List<String> remarks);

    /** Takes a record of which there is nothing to remark. */
    default <T> void publish(Topic<T> topic, String key, T value) {
        publish(topic, key, value, List.of());
    }
}
