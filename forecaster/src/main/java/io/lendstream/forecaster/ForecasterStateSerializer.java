package io.lendstream.forecaster;

import io.lendstream.core.forecast.service.ServiceForecaster;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializes a service's forecaster as state: the bytes of its own snapshot, which begin with a format number. A
 * version that still reads an earlier format needs no migration; other versions reject it before the job starts.
 */
final class ForecasterStateSerializer extends TypeSerializerSingleton<ServiceForecaster> {
    private static final long serialVersionUID = 1L;

    static final ValueType<ServiceForecaster> TYPE =
            new ValueType<>(ServiceForecaster.class, new ForecasterStateSerializer());

    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    public ServiceForecaster createInstance() {
        throw new UnsupportedOperationException("a forecaster cannot exist without its service");
    }

    @Override
    public ServiceForecaster copy(ServiceForecaster from) {
        return ServiceForecaster.restore(from.snapshot());
    }

    @Override
    public ServiceForecaster copy(ServiceForecaster from, ServiceForecaster reuse) {
        return copy(from);
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public void serialize(ServiceForecaster forecaster, DataOutputView target) throws IOException {
        ImmutableSerializer.writeBytes(forecaster.snapshot(), target);
    }

    @Override
    public ServiceForecaster deserialize(DataInputView source) throws IOException {
        return ServiceForecaster.restore(ImmutableSerializer.readBytes(source));
    }

    @Override
    public ServiceForecaster deserialize(ServiceForecaster reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        ImmutableSerializer.writeBytes(ImmutableSerializer.readBytes(source), target);
    }

    @Override
    public TypeSerializerSnapshot<ServiceForecaster> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The state format in a savepoint: the number of the forecaster's format. */
    public static final class Snapshot implements TypeSerializerSnapshot<ServiceForecaster> {
        private int format = StateWriter.FORMAT;

        /** For Flink. */
        public Snapshot() {}

        @Override
        public int getCurrentVersion() {
            return 1;
        }

        @Override
        public void writeSnapshot(DataOutputView out) throws IOException {
            out.writeInt(format);
        }

        @Override
        public void readSnapshot(int version, DataInputView in, ClassLoader loader) throws IOException {
            format = in.readInt();
        }

        @Override
        public ForecasterStateSerializer restoreSerializer() {
            return new ForecasterStateSerializer();
        }

        @Override
        public TypeSerializerSchemaCompatibility<ServiceForecaster> resolveSchemaCompatibility(
                TypeSerializerSnapshot<ServiceForecaster> old) {
            return old instanceof Snapshot snapshot && ServiceForecaster.reads(snapshot.format)
                    ? TypeSerializerSchemaCompatibility.compatibleAsIs()
                    : TypeSerializerSchemaCompatibility.incompatible();
        }
    }
}
