package io.lendstream.core.forecast.snapshot;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;

/** Puts a model's state into bytes, value after value; {@link StateReader} reads them in the same order. */
public final class StateWriter {
    /** Number of the format that is written. */
    public static final int FORMAT = 5;

    private ByteBuffer bytes = ByteBuffer.allocate(1024);

    public StateWriter integer(int value) {
        room(Integer.BYTES).putInt(value);
        return this;
    }

    public StateWriter number(long value) {
        room(Long.BYTES).putLong(value);
        return this;
    }

    public StateWriter number(double value) {
        room(Double.BYTES).putDouble(value);
        return this;
    }

    /** How many of something follow: in one byte where they are few, as they mostly are, and in five at most. */
    public StateWriter count(int value) {
        int left = value;
        while ((left & ~0x7f) != 0) {
            room(Byte.BYTES).put((byte) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        room(Byte.BYTES).put((byte) left);
        return this;
    }

    public StateWriter numbers(float[] values) {
        count(values.length);
        room(values.length * Float.BYTES).asFloatBuffer().put(values);
        bytes.position(bytes.position() + values.length * Float.BYTES);
        return this;
    }

    public StateWriter numbers(short[] values) {
        count(values.length);
        room(values.length * Short.BYTES).asShortBuffer().put(values);
        bytes.position(bytes.position() + values.length * Short.BYTES);
        return this;
    }

    public StateWriter text(String value) {
        byte[] encoded = value.getBytes(StandardCharsets.UTF_8);
        count(encoded.length);
        room(encoded.length).put(encoded);
        return this;
    }

    public StateWriter duration(Duration value) {
        return number(value.toMillis());
    }

    public StateWriter instant(Instant value) {
        return number(value.toEpochMilli());
    }

    public byte[] bytes() {
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    private ByteBuffer room(int needed) {
        if (bytes.remaining() < needed) {
            int length = bytes.position();
            byte[] more = Arrays.copyOf(bytes.array(), Math.max(bytes.capacity() * 2, length + needed));
            bytes = ByteBuffer.wrap(more).position(length);
        }
        return bytes;
    }
}
