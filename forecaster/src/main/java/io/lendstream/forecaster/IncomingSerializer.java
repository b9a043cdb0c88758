package io.lendstream.forecaster;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes received records, decoded or refused, between tasks. */
final class IncomingSerializer extends ImmutableSerializer<Incoming> {
    private static final long serialVersionUID = 1L;

    static final ValueType<Incoming> TYPE = new ValueType<>(Incoming.class, new IncomingSerializer());

    private final RateSerializer rates = new RateSerializer();
    private final DeadLetterSerializer letters = new DeadLetterSerializer();

    @Override
    public void serialize(Incoming incoming, DataOutputView target) throws IOException {
        if (incoming instanceof Incoming.Measured measured) {
            target.writeBoolean(true);
            rates.serialize(measured.rate(), target);
        } else if (incoming instanceof Incoming.Poison poison) {
            target.writeBoolean(false);
            letters.serialize(poison.letter(), target);
        }
    }

    @Override
    public Incoming deserialize(DataInputView source) throws IOException {
        return source.readBoolean()
                ? new Incoming.Measured(rates.deserialize(source))
                : new Incoming.Poison(letters.deserialize(source));
    }

    @Override
    public TypeSerializerSnapshot<Incoming> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Incoming> {
        public Snapshot() {
            super(IncomingSerializer::new);
        }
    }
}
