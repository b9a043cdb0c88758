package io.lendstream.core.forecast.snapshot;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;

/** Reads the values of a {@link StateWriter}, in the same order. */
public final class StateReader {
    private final ByteBuffer bytes;
    private int format = StateWriter.FORMAT;

    public StateReader(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes);
    }

    /** Sets the format of the bytes that follow; see {@link StateWriter#FORMAT}, which is the default. */
    public StateReader of(int written) {
        format = written;
        return this;
    }

    /** Whether it was written before a format came. */
    public boolean isBefore(int later) {
        return format < later;
    }

    public int integer() {
        return need(Integer.BYTES).getInt();
    }

    public long wholeNumber() {
        return need(Long.BYTES).getLong();
    }

    public double number() {
        return need(Double.BYTES).getDouble();
    }

    /** Fills an array that has the length it was saved with. */
    public void numbers(float[] into) {
        expect(into.length, Float.BYTES);
        bytes.asFloatBuffer().get(into);
        bytes.position(bytes.position() + into.length * Float.BYTES);
    }

    /** Fills an array that has the length it was saved with. */
    public void numbers(short[] into) {
        expect(into.length, Short.BYTES);
        bytes.asShortBuffer().get(into);
        bytes.position(bytes.position() + into.length * Short.BYTES);
    }

    private void expect(int length, int bytesEach) {
        int count = count();
        if (count != length) {
            throw new IllegalArgumentException(
                    "the saved state has %d numbers where this model keeps %d: it was saved under other settings"
                            .formatted(count, length));
        }
        need((long) count * bytesEach);
    }

    public String text() {
        byte[] encoded = new byte[count(Byte.BYTES)];
        bytes.get(encoded);
        return new String(encoded, StandardCharsets.UTF_8);
    }

    /** A count of things that follow, each at least {@code bytesEach} long. */
    public int count(int bytesEach) {
        int count = count();
        if (count < 0) {
            throw new IllegalArgumentException("the saved state is damaged: a count in it is %d".formatted(count));
        }
        need((long) count * bytesEach);
        return count;
    }

    /** Before format 5 every count took four bytes. */
    private int count() {
        if (isBefore(5)) {
            return integer();
        }
        int count = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            int part = need(Byte.BYTES).get();
            count |= (part & 0x7f) << shift;
            if (part >= 0) {
                return count;
            }
        }
        throw new IllegalArgumentException("the saved state is damaged: a count in it does not end");
    }

    public Duration duration() {
        return Duration.ofMillis(wholeNumber());
    }

    public Instant instant() {
        return Instant.ofEpochMilli(wholeNumber());
    }

    /** Throws unless everything was read. */
    public void end() {
        if (bytes.hasRemaining()) {
            throw new IllegalArgumentException(
                    "the saved state is damaged: %d bytes are left over".formatted(bytes.remaining()));
        }
    }

    private ByteBuffer need(long count) {
        if (bytes.remaining() < count) {
            throw new IllegalArgumentException("the saved state is cut short: it needs %d more bytes, but has %d"
                    .formatted(count, bytes.remaining()));
        }
        return bytes;
    }
}
