package io.lendstream.core.persistent;

import java.util.Arrays;

/** Bytes that do not change, equal to others by content. */
public final class Bytes {
    private final byte[] content;

    private Bytes(byte[] content) {
        this.content = content;
    }

    /** A copy of these bytes. */
    public static Bytes of(byte[] content) {
        return new Bytes(content.clone());
    }

    /** A copy. */
    public byte[] toArray() {
        return content.clone();
    }

    public int size() {
        return content.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes bytes && Arrays.equals(content, bytes.content);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(content);
    }

    @Override
    public String toString() {
        return content.length + " bytes";
    }
}
