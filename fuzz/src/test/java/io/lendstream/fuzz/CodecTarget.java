package io.lendstream.fuzz;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.serde.AvroDeserializer;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.serde.WireFormat;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.generic.GenericRecord;

/**
 * A record from a topic. The first byte chooses the topic; in its highest bit it says whether the rest is the whole value, or
 * a body to be framed with the topic's own schema. A value is read, or is poison; one that is read can be written again and
 * reads as the same.
 */
public final class CodecTarget {
    private static final TopicCatalogue CATALOGUE = new TopicCatalogue("");
    private static final List<Topic<?>> TOPICS = List.copyOf(TopicCatalogue.ALL);
    private static final Map<Topic<?>, Integer> IDS = new LinkedHashMap<>();
    private static final AvroDeserializer DESERIALIZER = new AvroDeserializer();

    static {
        @SuppressWarnings("resource") // for as long as the process runs
        String url = new FakeRegistry().url();
        RegistryClient registry = RegistryClient.shared(RegistrySettings.at(url));
        for (Topic<?> topic : TOPICS) {
            IDS.put(topic, registry.register(CATALOGUE.name(topic) + "-value", Codecs.schema(topic)));
        }
        DESERIALIZER.configure(
                Map.of(RegistrySettings.URL, url, AvroDeserializer.READER_SCHEMAS, Codecs.readerSchemas(CATALOGUE)),
                false);
    }

    private CodecTarget() {}

    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length == 0) {
            return;
        }
        Topic<?> topic = TOPICS.get((data[0] & 0x7f) % TOPICS.size());
        byte[] rest = Arrays.copyOfRange(data, 1, data.length);
        read(topic, data[0] < 0 ? rest : framed(IDS.getOrDefault(topic, 0), rest));
    }

    /** The input that stands for a record of a topic. */
    static byte[] input(Topic<?> topic, byte[] body) {
        return ByteBuffer.allocate(1 + body.length)
                .put((byte) TOPICS.indexOf(topic))
                .put(body)
                .array();
    }

    private static byte[] framed(int schemaId, byte[] body) {
        return ByteBuffer.allocate(WireFormat.HEADER_BYTES + body.length)
                .put(WireFormat.MAGIC)
                .putInt(schemaId)
                .put(body)
                .array();
    }

    private static <T> void read(Topic<T> topic, byte[] value) {
        T read;
        try {
            GenericRecord record = DESERIALIZER.deserialize(CATALOGUE.name(topic), value);
            if (record == null) {
                return;
            }
            read = Codecs.decode(topic, record);
        } catch (PoisonRecordException e) {
            return;
        }
        T again = Codecs.decode(topic, Codecs.encode(topic, read));
        if (!again.equals(read)) {
            throw new AssertionError("%s was read as%n%s%nand, once written, as%n%s".formatted(topic, read, again));
        }
    }
}
