package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** The form of messages between the node process and a worker: two lengths, a JSON object, and bytes. */
final class Frames {
    static final ObjectMapper JSON = new ObjectMapper();

    private static final int LENGTHS = 2 * Integer.BYTES;
    private static final int LONGEST_HEADER = 1 << 20;
    private static final int LONGEST_BODY = 16 << 20;

    private Frames() {}

    /** A message with its binary value, which is empty for most messages. */
    record Frame(JsonNode message, ByteBuffer body) {
        String type() {
            return message.path("type").asText();
        }
    }

    static Frame read(ReadableByteChannel from) throws IOException {
        ByteBuffer lengths = read(from, LENGTHS);
        int header = lengths.getInt();
        int body = lengths.getInt();
        if (header < 0 || header > LONGEST_HEADER || body < 0 || body > LONGEST_BODY) {
            throw new IOException("a worker sent a frame of %d + %d bytes, but at most %d + %d are accepted"
                    .formatted(header, body, LONGEST_HEADER, LONGEST_BODY));
        }
        JsonNode message = JSON.readTree(read(from, header).array());
        if (message == null || !message.isObject()) {
            throw new IOException("a worker sent a message that is not a JSON object");
        }
        return new Frame(message, read(from, body));
    }

    static void write(WritableByteChannel to, JsonNode message, byte[] body) throws IOException {
        byte[] header = JSON.writeValueAsBytes(message);
        ByteBuffer frame = ByteBuffer.allocate(LENGTHS + header.length + body.length)
                .putInt(header.length)
                .putInt(body.length)
                .put(header)
                .put(body)
                .flip();
        while (frame.hasRemaining()) {
            to.write(frame);
        }
    }

    private static ByteBuffer read(ReadableByteChannel from, int size) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(size);
        while (bytes.hasRemaining()) {
            if (from.read(bytes) < 0) {
                throw new EOFException("the worker closed the connection");
            }
        }
        return bytes.flip();
    }
}
