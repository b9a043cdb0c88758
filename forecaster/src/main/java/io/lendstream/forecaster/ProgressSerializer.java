package io.lendstream.forecaster;

import io.lendstream.core.event.Progress;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes progress between tasks, as its topic's Avro record. */
final class ProgressSerializer extends ImmutableSerializer<Progress> {
    private static final long serialVersionUID = 1L;

    static final ValueType<Progress> TYPE = new ValueType<>(Progress.class, new ProgressSerializer());

    @Override
    public void serialize(Progress progress, DataOutputView target) throws IOException {
        AvroForm.write(TopicCatalogue.PROGRESS, progress, target);
    }

    @Override
    public Progress deserialize(DataInputView source) throws IOException {
        return AvroForm.read(TopicCatalogue.PROGRESS, source);
    }

    @Override
    public TypeSerializerSnapshot<Progress> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Progress> {
        public Snapshot() {
            super(ProgressSerializer::new);
        }
    }
}
