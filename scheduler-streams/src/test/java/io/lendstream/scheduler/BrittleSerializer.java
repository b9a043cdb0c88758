package io.lendstream.scheduler;

import io.lendstream.schemas.serde.AvroSerializer;
import java.util.Map;
import java.util.function.BiPredicate;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Serializer;

/** Ours, but for records that a test says cannot be encoded: as a value out of the range of its type could not. */
public final class BrittleSerializer implements Serializer<GenericRecord> {
    private static final ThreadLocal<BiPredicate<String, GenericRecord>> BREAKS =
            ThreadLocal.withInitial(() -> (topic, record) -> false);

    private final AvroSerializer ours = new AvroSerializer();

    /** For {@code SerdeFactory}. */
    public BrittleSerializer() {}

    /** What cannot be encoded by this thread from now on, by topic and record. */
    static void breakOn(BiPredicate<String, GenericRecord> records) {
        BREAKS.set(records);
    }

    static void breakOnNothing() {
        BREAKS.remove();
    }

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        ours.configure(configs, isKey);
    }

    @Override
    public byte[] serialize(String topic, GenericRecord record) {
        if (BREAKS.get().test(topic, record)) {
            throw new ArithmeticException("long overflow");
        }
        return ours.serialize(topic, record);
    }

    @Override
    public void close() {
        ours.close();
    }
}
