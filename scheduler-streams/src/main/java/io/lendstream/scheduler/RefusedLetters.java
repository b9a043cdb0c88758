package io.lendstream.scheduler;

import io.lendstream.service.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * The origins of dead letters that a broker refused as too large, because its limit is below the producer's. The next
 * attempt is sent without a value. Safe for many threads.
 */
final class RefusedLetters {
    private static final int MOST = 1_000;

    private final Set<String> origins = new LinkedHashSet<>();

    synchronized void add(Headers letter) {
        if (origins.size() >= MOST) {
            origins.remove(origins.iterator().next());
        }
        origins.add(origin(letter));
    }

    synchronized boolean contains(Headers letter) {
        return !origins.isEmpty() && origins.contains(origin(letter));
    }

    private static String origin(Headers letter) {
        return text(letter, DeadLetters.TOPIC) + "-" + text(letter, DeadLetters.PARTITION) + "@"
                + text(letter, DeadLetters.OFFSET);
    }

    private static String text(Headers letter, String name) {
        Header header = letter.lastHeader(name);
        return header == null || header.value() == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
    }
}
