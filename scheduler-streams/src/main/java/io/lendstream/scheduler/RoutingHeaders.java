package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.Origin;
import io.lendstream.core.id.NodeId;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The headers that the intake adds to a record in the internal topic.
 *
 * @param origin topic, partition and offset of the record
 * @param left the node that a tombstone removed, and when; the record then has no value
 */
record RoutingHeaders(Origin origin, Optional<Left> left) {
    private static final String ORIGIN = "origin";
    private static final String KEY = "key";
    private static final String NODE = "node-left";
    private static final String AT = "node-left-at";

    /** A node left. */
    record Left(NodeId node, Instant at) {}

    /**
     * Writes these as headers.
     *
     * @param key the record's own key; the internal topic's key is the domain
     */
    void addTo(Headers headers, byte[] key) {
        headers.add(ORIGIN, origin.toString().getBytes(UTF_8));
        headers.add(KEY, key);
        left.ifPresent(node -> {
            headers.add(NODE, node.node().value().getBytes(UTF_8));
            headers.add(AT, Long.toString(node.at().toEpochMilli()).getBytes(UTF_8));
        });
    }

    static RoutingHeaders from(Headers headers) {
        String node = text(headers.lastHeader(NODE));
        String at = text(headers.lastHeader(AT));
        Optional<Left> left = node == null || at == null
                ? Optional.empty()
                : Optional.of(new Left(new NodeId(node), Instant.ofEpochMilli(Long.parseLong(at))));
        return new RoutingHeaders(origin(text(headers.lastHeader(ORIGIN))), left);
    }

    /** The record's own key. */
    static byte[] key(Headers headers) {
        Header key = headers.lastHeader(KEY);
        return key == null || key.value() == null ? new byte[0] : key.value();
    }

    private static Origin origin(@Nullable String text) {
        if (text == null) {
            throw new IllegalStateException("a record of the internal topic has no header " + ORIGIN
                    + "; only the scheduler may write to that topic");
        }
        int offset = text.lastIndexOf('@');
        int partition = text.lastIndexOf('-', offset);
        return new Origin(
                text.substring(0, partition),
                Integer.parseInt(text.substring(partition + 1, offset)),
                Long.parseLong(text.substring(offset + 1)));
    }

    private static @Nullable String text(@Nullable Header header) {
        return header == null || header.value() == null ? null : new String(header.value(), UTF_8);
    }
}
