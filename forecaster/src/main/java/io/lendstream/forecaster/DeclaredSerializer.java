package io.lendstream.forecaster;

import java.io.IOException;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/** Serializes declarations between tasks. They are in no checkpoint, so the format may change with any version. */
final class DeclaredSerializer extends ImmutableSerializer<Declared> {
    private static final long serialVersionUID = 1L;

    static final ValueType<Declared> TYPE = new ValueType<>(Declared.class, new DeclaredSerializer());

    private final RolesSerializer capacities = new RolesSerializer();

    @Override
    public void serialize(Declared declared, DataOutputView target) throws IOException {
        StringValue.writeString(declared.service(), target);
        target.writeBoolean(declared.capacity().isPresent());
        if (declared.capacity().isPresent()) {
            capacities.serialize(declared.capacity().get(), target);
        }
    }

    @Override
    public Declared deserialize(DataInputView source) throws IOException {
        return new Declared(
                StringValue.readString(source),
                source.readBoolean() ? Optional.of(capacities.deserialize(source)) : Optional.empty());
    }

    @Override
    public TypeSerializerSnapshot<Declared> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Declared> {
        public Snapshot() {
            super(DeclaredSerializer::new);
        }
    }
}
