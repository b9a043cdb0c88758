package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.persistent.Bytes;
import java.nio.ByteBuffer;

/** Maps bytes. */
record OctetsMapping() implements Mapping {
    @Override
    public Object encode(Object value) {
        return ByteBuffer.wrap(((Bytes) value).toArray());
    }

    @Override
    public Object decode(Object wire) {
        byte[] bytes = new byte[((ByteBuffer) wire).remaining()];
        ((ByteBuffer) wire).duplicate().get(bytes);
        return Bytes.of(bytes);
    }
}
