package io.lendstream.agent.gpu;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads snapshots from a file: one JSON object a line, with a node's inventory before its samples. Request rates,
 * which an agent prints beside them, are ignored, because they do not come from GPUs.
 */
final class Recording {
    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final List<GpuSnapshot> sights = new ArrayList<>();
    private Optional<Node> node = Optional.empty();
    private boolean isNodeTold;

    private Recording() {}

    /**
     * Reads all snapshots of a file, at least one.
     *
     * @throws IllegalArgumentException if it is not a recording of one node; names the line
     */
    static List<GpuSnapshot> read(Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "recording %s cannot be read: %s. Name a file that 'lendstream agent --once --json --dry-run' wrote."
                            .formatted(file, e),
                    e);
        }
        Recording recording = new Recording();
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).isBlank()) {
                try {
                    recording.take(JSON.readTree(lines.get(i)));
                } catch (JsonProcessingException e) {
                    throw wrong(file, i, "is not JSON: " + e.getOriginalMessage(), e);
                } catch (IllegalArgumentException | PoisonRecordException e) {
                    throw wrong(file, i, String.valueOf(e.getMessage()), e);
                }
            }
        }
        recording.endNode();
        if (recording.sights.isEmpty()) {
            throw new IllegalArgumentException("recording %s is empty".formatted(file));
        }
        return recording.sights;
    }

    private static IllegalArgumentException wrong(Path file, int line, String why, Exception cause) {
        return new IllegalArgumentException("recording %s, line %d: %s".formatted(file, line + 1, why), cause);
    }

    private void take(JsonNode line) {
        if (!line.isObject() || (!line.has("status") && !line.has("sequence"))) {
            throw new IllegalArgumentException(
                    "is not a node's inventory (with a status), a sample (with a sequence) or a rate of requests (with a sequence and a service)");
        }
        if (line.has("service")) {
            Codecs.decode(
                    TopicCatalogue.REQUEST_RATES, PlainRecord.of(Codecs.schema(TopicCatalogue.REQUEST_RATES), line));
        } else if (line.has("status")) {
            take(Codecs.decode(TopicCatalogue.NODES, PlainRecord.of(Codecs.schema(TopicCatalogue.NODES), line)));
        } else {
            take(Codecs.decode(
                    TopicCatalogue.GPU_TELEMETRY, PlainRecord.of(Codecs.schema(TopicCatalogue.GPU_TELEMETRY), line)));
        }
    }

    private void take(Node next) {
        endNode();
        if (node.isPresent() && !node.get().nodeId().equals(next.nodeId())) {
            throw anotherNode(next.nodeId().value());
        }
        node = Optional.of(next);
        isNodeTold = false;
    }

    private IllegalArgumentException anotherNode(String name) {
        return new IllegalArgumentException("has node %s, but earlier lines have %s. Keep the lines of one node."
                .formatted(name, node.orElseThrow().nodeId()));
    }

    private void take(GpuTelemetry sample) {
        Node of = node.orElseThrow(
                () -> new IllegalArgumentException("is a sample, but no node's inventory comes before it"));
        if (!of.nodeId().equals(sample.nodeId())) {
            throw anotherNode(sample.nodeId().value());
        }
        sights.add(new GpuSnapshot(NodeStatus.READY, of.why(), of.gpus(), sample.gpus(), of.driverVersion()));
        isNodeTold = true;
    }

    /** An inventory without samples is a snapshot of its own. */
    private void endNode() {
        if (node.isPresent() && !isNodeTold) {
            Node of = node.get();
            String said =
                    of.why().isEmpty() && of.status() != NodeStatus.READY ? "recorded as " + of.status() : of.why();
            sights.add(GpuSnapshot.without(of.status(), said, of.gpus(), of.driverVersion()));
            isNodeTold = true;
        }
    }
}
