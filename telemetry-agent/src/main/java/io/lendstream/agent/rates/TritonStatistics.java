package io.lendstream.agent.rates;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.latency.BatchCounter;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads Triton's batch statistics at {@code /v2/models/stats}.
 *
 * @see <a
 *     href="https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_statistics.md">Triton's
 *     statistics extension</a>
 */
final class TritonStatistics {
    private static final ObjectMapper JSON = new ObjectMapper();

    private TritonStatistics() {}

    /**
     * Batch counters by model and batch size; versions of a model count together.
     *
     * @throws UnreadableException if the text has another format
     */
    static Map<String, Map<Integer, BatchCounter>> read(String text) {
        var models = new TreeMap<String, Map<Integer, BatchCounter>>();
        try {
            for (JsonNode model : JSON.readTree(text).path("model_stats")) {
                Map<Integer, BatchCounter> sizes =
                        models.computeIfAbsent(model.path("name").asText(), name -> new TreeMap<>());
                for (JsonNode batch : model.path("batch_stats")) {
                    sizes.merge(batch.path("batch_size").asInt(), counter(batch), TritonStatistics::sum);
                }
                sizes.keySet().removeIf(size -> size < 1);
            }
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new UnreadableException("Triton's statistics cannot be read: " + e.getMessage(), e);
        }
        return models;
    }

    private static BatchCounter counter(JsonNode batch) {
        return new BatchCounter(
                phase(batch.path("compute_input")),
                phase(batch.path("compute_infer")),
                phase(batch.path("compute_output")));
    }

    private static BatchCounter.Phase phase(JsonNode phase) {
        return new BatchCounter.Phase(
                phase.path("count").asLong(), phase.path("ns").asLong());
    }

    private static BatchCounter sum(BatchCounter one, BatchCounter other) {
        return new BatchCounter(
                sum(one.input(), other.input()), sum(one.infer(), other.infer()), sum(one.output(), other.output()));
    }

    private static BatchCounter.Phase sum(BatchCounter.Phase one, BatchCounter.Phase other) {
        return new BatchCounter.Phase(one.count() + other.count(), one.nanos() + other.nanos());
    }
}
