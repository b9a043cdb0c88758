package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializes a replica's capacity in twelve bytes, without roles; {@link RolesSerializer} has them. The format is part
 * of checkpoints: a new format needs a state with a new name, or a snapshot that distinguishes the two.
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

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<ReplicaCapacity> {
        public Snapshot() {
            super(CapacitySerializer::new);
        }
    }
}
