package io.lendstream.service.kafka;

import io.lendstream.service.settings.SettingsException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Limits the size of a dead letter. A record can be larger than a producer may send, because the broker checks the
 * compressed size. A letter that does not fit would fail again after every restart, so it is cut, and headers give
 * the original sizes.
 *
 * @param requestBytes the producer's {@code max.request.size}, in bytes; at least {@link #LEAST_REQUEST_BYTES}
 */
public record LetterBounds(int requestBytes) implements Serializable {
    /** Header: the size of the value before it was cut, in bytes. */
    public static final String CUT_FROM = "lendstream-cut-from";

    /** Header: the size of the key before it was cut, in bytes. */
    public static final String KEY_CUT_FROM = "lendstream-key-cut-from";

    /** Header: the SHA-256 of the whole key, if it was cut. */
    public static final String KEY_SHA_256 = "lendstream-key-sha256";

    /** Header: how many of the record's headers were left out. */
    public static final String HEADERS_LEFT_OUT = "lendstream-headers-left-out";

    /** The smallest allowed request size: the origin and the reason of a letter need a few kilobytes. */
    public static final int LEAST_REQUEST_BYTES = 64 << 10;

    /** The bounds for a producer with Kafka's default {@code max.request.size}. */
    public static final LetterBounds DEFAULT = new LetterBounds(1 << 20);

    private static final int LONGEST_HEADER = 4 << 10;
    private static final int LARGEST_PART = 64 << 10;
    /** The most bytes that the frame of a record or of a header adds. */
    private static final int FRAME = 32;

    public LetterBounds {
        if (requestBytes < LEAST_REQUEST_BYTES) {
            throw new IllegalArgumentException(
                    "kafka.producer.%s is %d bytes, but dead letters need at least %d; raise it, or leave it out for %d"
                            .formatted(
                                    ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
                                    requestBytes,
                                    LEAST_REQUEST_BYTES,
                                    DEFAULT.requestBytes));
        }
    }

    /**
     * The bounds for a producer with these properties.
     *
     * @throws SettingsException if its {@code max.request.size} is below {@link #LEAST_REQUEST_BYTES}
     */
    public static LetterBounds of(Map<String, ?> producer) {
        Object size = producer.get(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        if (size == null) {
            return DEFAULT;
        }
        int bytes;
        try {
            bytes = Integer.parseInt(size.toString().strip());
        } catch (NumberFormatException e) {
            return DEFAULT; // the producer rejects the setting with a better message
        }
        try {
            return new LetterBounds(bytes);
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The letter with its key, headers and value cut so that the producer can send it. */
    public ProducerRecord<byte[], byte[]> fit(ProducerRecord<byte[], byte[]> letter) {
        Headers headers = new RecordHeaders(letter.headers());
        byte[] key = key(letter.key(), headers);
        byte[] value = value(letter.value(), headers);
        return new ProducerRecord<>(letter.topic(), letter.partition(), letter.timestamp(), key, value, headers);
    }

    /**
     * Cuts a letter's headers in place, and its key.
     *
     * <p>Values are cut to 4 KiB. If all headers together are too large, the oldest ones are left out: the letter's
     * own headers are added last.
     */
    public byte @Nullable [] key(byte @Nullable [] key, Headers headers) {
        cut(headers);
        if (key == null || key.length <= part()) {
            return key;
        }
        set(headers, KEY_CUT_FROM, Integer.toString(key.length));
        set(headers, KEY_SHA_256, HexFormat.of().formatHex(sha256(key)));
        return Arrays.copyOf(key, part());
    }

    /** The value, cut to fit beside a key and headers that {@link #key} has cut. */
    public byte @Nullable [] value(byte @Nullable [] value, Headers headers) {
        if (value == null) {
            return null;
        }
        // One part is for the key, and one is a margin for brokers with a limit slightly below the producer's.
        int room = Math.max(0, requestBytes - 2 * part() - bytes(headers) - 2 * FRAME);
        if (value.length <= room) {
            return value;
        }
        set(headers, CUT_FROM, Integer.toString(value.length));
        return Arrays.copyOf(value, room);
    }

    /** An empty value in place of one that is too large to send, with its size in the headers. */
    public static byte[] withoutValue(byte[] value, Headers headers) {
        set(headers, CUT_FROM, Integer.toString(value.length));
        return new byte[0];
    }

    /** The size of a record as size limits count it, in bytes: key, value and headers. */
    public static long size(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        return (long) (key == null ? 0 : key.length) + (value == null ? 0 : value.length) + bytes(headers);
    }

    /** A text cut to the largest length of a header. */
    public static String shortened(String text) {
        return text.length() <= LONGEST_HEADER / 4 ? text : text.substring(0, LONGEST_HEADER / 4);
    }

    private int part() {
        return Math.min(LARGEST_PART, requestBytes / 8);
    }

    private void cut(Headers headers) {
        Deque<Header> kept = new ArrayDeque<>();
        Header[] all = headers.toArray();
        int bytes = 0;
        for (int i = all.length - 1; i >= 0; i--) {
            Header header = shortened(all[i]);
            bytes += bytes(header);
            if (bytes > part()) {
                break;
            }
            kept.addFirst(header);
        }
        for (Header header : all) {
            headers.remove(header.key());
        }
        kept.forEach(headers::add);
        if (kept.size() < all.length) {
            set(headers, HEADERS_LEFT_OUT, Integer.toString(all.length - kept.size()));
        }
    }

    private static Header shortened(Header header) {
        byte[] value = header.value();
        return value == null || value.length <= LONGEST_HEADER
                ? header
                : new RecordHeader(header.key(), Arrays.copyOf(value, LONGEST_HEADER));
    }

    private static int bytes(Headers headers) {
        long bytes = 0;
        for (Header header : headers) {
            bytes += bytes(header);
        }
        return (int) Math.min(Integer.MAX_VALUE / 2, bytes);
    }

    private static int bytes(Header header) {
        int name = header.key().getBytes(StandardCharsets.UTF_8).length;
        return name + (header.value() == null ? 0 : header.value().length) + FRAME;
    }

    private static void set(Headers headers, String name, String value) {
        headers.remove(name);
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
