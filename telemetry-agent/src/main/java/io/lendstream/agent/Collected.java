package io.lendstream.agent;

import io.lendstream.agent.publish.RecordSink;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import io.lendstream.schemas.topics.Topic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Collects records instead of publishing them: the latest inventory and sample of each node, since the first read is
 * incomplete.
 */
final class Collected implements RecordSink {
    private final Map<String, Consumer<RecordSink>> words = new LinkedHashMap<>();
    private final Set<String> topics = new LinkedHashSet<>();
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final Map<String, GpuTelemetry> samples = new LinkedHashMap<>();
    private final List<RequestRate> rates = new ArrayList<>();

    @Override
    public <T> void publish(Topic<T> topic, String key, T value, List<String> remarks) {
        int ratesBefore = rates.size();
        if (value instanceof Event event) {
            event.asNode().ifPresent(node -> nodes.put(key, node));
            event.asTelemetry().ifPresent(sample -> samples.put(key, sample));
            event.asRate().ifPresent(rates::add);
        }
        topics.add(topic.suffix());
        boolean isRate = rates.size() > ratesBefore;
        String place = isRate ? topic + key + rates.size() : topic + key;
        words.put(place, to -> to.publish(topic, key, value, remarks));
    }

    void publishTo(RecordSink outbox) {
        words.values().forEach(word -> word.accept(outbox));
    }

    /** The number of collected records. */
    int count() {
        return words.size();
    }

    /** The topics of the collected records, for people. */
    String topics() {
        return String.join(", ", topics);
    }

    List<Node> nodes() {
        return List.copyOf(nodes.values());
    }

    List<GpuTelemetry> samples() {
        return List.copyOf(samples.values());
    }

    List<RequestRate> rates() {
        return List.copyOf(rates);
    }
}
