package io.lendstream.forecaster;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.demand.RoleCapacity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/**
 * Serializes a replica's capacity with the roles of its service. The format is part of checkpoints: a new format needs
 * a state with a new name, or a snapshot that distinguishes the two.
 */
final class RolesSerializer extends ImmutableSerializer<ReplicaCapacity> {
    private static final long serialVersionUID = 1L;

    static final ValueType<ReplicaCapacity> TYPE = new ValueType<>(ReplicaCapacity.class, new RolesSerializer());

    @Override
    public void serialize(ReplicaCapacity capacity, DataOutputView target) throws IOException {
        target.writeDouble(capacity.perSecond());
        target.writeInt(capacity.floor());
        target.writeInt(capacity.roles().size());
        for (RoleCapacity role : capacity.roles()) {
            StringValue.writeString(role.role().name(), target);
            target.writeDouble(role.perSecond());
            target.writeInt(role.floor());
            target.writeInt(role.units());
        }
    }

    @Override
    public ReplicaCapacity deserialize(DataInputView source) throws IOException {
        double perSecond = source.readDouble();
        int floor = source.readInt();
        List<RoleCapacity> roles = new ArrayList<>();
        for (int left = source.readInt(); left > 0; left--) {
            roles.add(new RoleCapacity(
                    ReplicaRole.valueOf(StringValue.readString(source)),
                    source.readDouble(),
                    source.readInt(),
                    source.readInt()));
        }
        return new ReplicaCapacity(perSecond, floor, roles);
    }

    @Override
    public TypeSerializerSnapshot<ReplicaCapacity> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<ReplicaCapacity> {
        public Snapshot() {
            super(RolesSerializer::new);
        }
    }
}
