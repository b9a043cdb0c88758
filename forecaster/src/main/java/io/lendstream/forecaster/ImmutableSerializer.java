package io.lendstream.forecaster;

import java.io.IOException;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** How Flink passes on values that never change: a copy is the value itself, between tasks each has a form of its own. */
abstract class ImmutableSerializer<T> extends TypeSerializerSingleton<T> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public T createInstance() {
        throw new UnsupportedOperationException("values of this type are made once and never filled in later");
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

    /** No measure of ours is ever NaN. */
    static Optional<Double> readOptional(DataInputView source) throws IOException {
        double value = source.readDouble();
        return Double.isNaN(value) ? Optional.empty() : Optional.of(value);
    }
}
