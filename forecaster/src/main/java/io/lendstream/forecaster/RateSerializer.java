package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Request rates between tasks, as their topic's Avro records. */
final class RateSerializer extends ImmutableSerializer<RequestRate> {
    private static final long serialVersionUID = 1L;

    static final ValueType<RequestRate> TYPE = new ValueType<>(RequestRate.class, new RateSerializer());

    @Override
    public void serialize(RequestRate rate, DataOutputView target) throws IOException {
        AvroForm.write(TopicCatalogue.REQUEST_RATES, rate, target);
    }

    @Override
    public RequestRate deserialize(DataInputView source) throws IOException {
        return AvroForm.read(TopicCatalogue.REQUEST_RATES, source);
    }

    @Override
    public TypeSerializerSnapshot<RequestRate> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The form is the class's own. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<RequestRate> {
        public Snapshot() {
            super(RateSerializer::new);
        }
    }
}
