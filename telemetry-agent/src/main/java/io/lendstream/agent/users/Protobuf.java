package io.lendstream.agent.users;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Parses a protocol buffer message, field by field. Only texts and messages are returned; other fields are skipped.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
final class Protobuf {
    private static final int VARINT = 0;
    private static final int EIGHT_BYTES = 1;
    private static final int LENGTH = 2;
    private static final int FOUR_BYTES = 5;
    private static final int LONGEST_VARINT_BITS = 63;

    /** Receives a field that is a text or a message. */
    interface Taker {
        void take(int field, byte[] value);
    }

    private final byte[] message;
    private int at;

    private Protobuf(byte[] message) {
        this.message = message;
    }

    /**
     * Passes on its fields, in order.
     *
     * @throws IllegalArgumentException if the bytes are not a message
     */
    static void read(byte[] message, Taker taker) {
        new Protobuf(message).read(taker);
    }

    static String text(byte[] value) {
        return new String(value, StandardCharsets.UTF_8);
    }

    private void read(Taker taker) {
        while (at < message.length) {
            long tag = varint();
            switch ((int) (tag & 7)) {
                case VARINT -> varint();
                case EIGHT_BYTES -> skip(8);
                case FOUR_BYTES -> skip(4);
                case LENGTH -> {
                    long length = varint();
                    int from = at;
                    skip(length);
                    taker.take((int) (tag >>> 3), Arrays.copyOfRange(message, from, at));
                }
                default ->
                    throw new IllegalArgumentException(
                            "byte %d begins a field of the unknown kind %d".formatted(at, tag & 7));
            }
        }
    }

    private long varint() {
        long value = 0;
        for (int bits = 0; bits <= LONGEST_VARINT_BITS; bits += 7) {
            if (at == message.length) {
                throw new IllegalArgumentException("the message ends within a number");
            }
            byte next = message[at++];
            value |= (long) (next & 0x7f) << bits;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("byte %d ends a number that is too long".formatted(at));
    }

    private void skip(long bytes) {
        if (bytes < 0 || bytes > message.length - at) {
            throw new IllegalArgumentException(
                    "byte %d begins a field of %d bytes, but %d are left".formatted(at, bytes, message.length - at));
        }
        at += (int) bytes;
    }
}
