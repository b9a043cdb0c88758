package io.lendstream.forecaster;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** Serializes dead letters between tasks. */
final class DeadLetterSerializer extends ImmutableSerializer<RateDeadLetter> {
    private static final long serialVersionUID = 1L;

    static final ValueType<RateDeadLetter> TYPE = new ValueType<>(RateDeadLetter.class, new DeadLetterSerializer());

    @Override
    public void serialize(RateDeadLetter letter, DataOutputView target) throws IOException {
        ConsumerRecord<byte[], byte[]> record = letter.record();
        StringValue.writeString(record.topic(), target);
        target.writeInt(record.partition());
        target.writeLong(record.offset());
        target.writeLong(record.timestamp());
        writeNullable(record.key(), target);
        writeNullable(record.value(), target);
        List<Header> headers = RateDeadLetter.headers(record);
        target.writeInt(headers.size());
        for (Header header : headers) {
            StringValue.writeString(header.key(), target);
            writeNullable(header.value(), target);
        }
        StringValue.writeString(letter.kind(), target);
        StringValue.writeString(letter.reason(), target);
    }

    @Override
    public RateDeadLetter deserialize(DataInputView source) throws IOException {
        String topic = StringValue.readString(source);
        int partition = source.readInt();
        long offset = source.readLong();
        long timestamp = source.readLong();
        byte @Nullable [] key = readNullable(source);
        byte @Nullable [] value = readNullable(source);
        RecordHeaders headers = new RecordHeaders();
        for (int left = source.readInt(); left > 0; left--) {
            headers.add(RateDeadLetter.header(StringValue.readString(source), readNullable(source)));
        }
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(
                topic,
                partition,
                offset,
                timestamp,
                TimestampType.CREATE_TIME,
                ConsumerRecord.NULL_SIZE,
                ConsumerRecord.NULL_SIZE,
                key,
                value,
                headers,
                Optional.empty());
        return new RateDeadLetter(record, StringValue.readString(source), StringValue.readString(source));
    }

    private static void writeNullable(byte @Nullable [] bytes, DataOutputView target) throws IOException {
        target.writeBoolean(bytes != null);
        if (bytes != null) {
            writeBytes(bytes, target);
        }
    }

    private static byte @Nullable [] readNullable(DataInputView source) throws IOException {
        return source.readBoolean() ? readBytes(source) : null;
    }

    @Override
    public TypeSerializerSnapshot<RateDeadLetter> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The format belongs to the class. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<RateDeadLetter> {
        public Snapshot() {
            super(DeadLetterSerializer::new);
        }
    }
}
