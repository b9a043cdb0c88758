package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * What a replica answers, in twelve bytes. It is in checkpoints: another form needs a state of another name, or a snapshot that can
 * tell the two apart.
 */
final class CapacitySerializer extends ImmutableSerializer<ReplicaCapacity> {
    private static final long serialVersionUID = 1L;

    static final ValueType<ReplicaCapacity> TYPE = new ValueType<>(ReplicaCapacity.class, new CapacitySerializer());

    @Override
    public void serialize(ReplicaCapacity capacity, DataOutputView target) throws IOException {
        target.writeDouble(capacity.perSecond());
        target.writeInt(capacity.floor());
    }

    @Override
    public ReplicaCapacity deserialize(DataInputView source) throws IOException {
        return new ReplicaCapacity(source.readDouble(), source.readInt());
    }

    @Override
    public TypeSerializerSnapshot<ReplicaCapacity> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The form is the class's own. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<ReplicaCapacity> {
        public Snapshot() {
            super(CapacitySerializer::new);
        }
    }
}
