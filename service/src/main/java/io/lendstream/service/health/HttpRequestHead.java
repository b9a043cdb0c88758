package io.lendstream.service.health;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;

/**
 * The first lines of an HTTP request, as far as the health server needs them.
 *
 * @param path without the query
 * @param authorization the header of that name; empty if it is missing
 */
record HttpRequestHead(String method, String path, String authorization) {
    /** Prometheus and probes need less than 1 KiB. */
    static final int LARGEST_BYTES = 8 << 10;

    /** Reports that the request is malformed, or larger than {@link #LARGEST_BYTES}. */
    static final class UnreadableException extends IOException {
        private static final long serialVersionUID = 1L;
        private final transient int status;

        UnreadableException(int status, String message) {
            super(message);
            this.status = status;
        }

        int status() {
            return status;
        }
    }

    /**
     * Reads up to the empty line; empty if the client closes the connection without sending anything.
     *
     * @throws UnreadableException if the bytes are not an HTTP request
     */
    static Optional<HttpRequestHead> read(InputStream in) throws IOException {
        byte[] bytes = new byte[LARGEST_BYTES];
        int size = 0;
        while (true) {
            if (size == bytes.length) {
                throw new UnreadableException(431, "the request has more than %d bytes".formatted(LARGEST_BYTES));
            }
            int read = in.read(bytes, size, bytes.length - size);
            if (read < 0) {
                if (size == 0) {
                    return Optional.empty();
                }
                throw new UnreadableException(400, "the request ends before its empty line");
            }
            int from = Math.max(0, size - 3);
            size += read;
            int end = end(bytes, from, size);
            if (end >= 0) {
                return Optional.of(parse(new String(bytes, 0, end, StandardCharsets.ISO_8859_1)));
            }
        }
    }

    /** Position of the empty line; -1 if it has not arrived. */
    private static int end(byte[] bytes, int from, int size) {
        for (int i = from; i + 1 < size; i++) {
            if (bytes[i] == '\n' && bytes[i + 1] == '\n') {
                return i;
            }
            if (i + 3 < size
                    && bytes[i] == '\r'
                    && bytes[i + 1] == '\n'
                    && bytes[i + 2] == '\r'
                    && bytes[i + 3] == '\n') {
                return i;
            }
        }
        return -1;
    }

    private static HttpRequestHead parse(String text) throws UnreadableException {
        String[] lines = text.split("\r?\n", -1);
        String[] first = lines[0].split(" ", -1);
        if (first.length != 3 || !first[2].startsWith("HTTP/1.") || !first[1].startsWith("/")) {
            throw new UnreadableException(400, "the first line is not an HTTP/1.1 request");
        }
        String authorization = "";
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon > 0
                    && lines[i].substring(0, colon).toLowerCase(Locale.ROOT).equals("authorization")) {
                authorization = lines[i].substring(colon + 1).strip();
            }
        }
        int query = first[1].indexOf('?');
        return new HttpRequestHead(first[0], query < 0 ? first[1] : first[1].substring(0, query), authorization);
    }
}
