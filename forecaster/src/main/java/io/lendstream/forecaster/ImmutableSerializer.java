package io.lendstream.forecaster;

import java.io.IOException;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Base of Flink serializers for immutable values: a copy is the value itself. */
abstract class ImmutableSerializer<T> extends TypeSerializerSingleton<T> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public T createInstance() {
        throw new UnsupportedOperationException("values of this type are immutable and cannot be filled in later");
    }

    @Override
    public T copy(T from) {
        return from;
    }

    @Override
    public T copy(T from, T reuse) {
        return from;
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public T deserialize(T reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        serialize(deserialize(source), target);
    }

    static void writeBytes(byte[] bytes, DataOutputView target) throws IOException {
        target.writeInt(bytes.length);
        target.write(bytes);
    }

    static byte[] readBytes(DataInputView source) throws IOException {
        byte[] bytes = new byte[source.readInt()];
        source.readFully(bytes);
        return bytes;
    }

    static void writeOptional(Optional<Double> value, DataOutputView target) throws IOException {
        target.writeDouble(value.orElse(Double.NaN));
    }

    /** Our measures are never NaN. */
    static Optional<Double> readOptional(DataInputView source) throws IOException {
        double value = source.readDouble();
        return Double.isNaN(value) ? Optional.empty() : Optional.of(value);
    }
}
