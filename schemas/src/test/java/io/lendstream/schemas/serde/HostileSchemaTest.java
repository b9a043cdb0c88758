package io.lendstream.schemas.serde;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.serialization.Deserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A writer chooses the schema of its records; a schema that any registry takes must not cost the reader a thread. */
@Timeout(60)
final class HostileSchemaTest {
    private static final Schema OURS =
            SchemaBuilder.record("Sample").fields().requiredString("name").endRecord();
    /** Compatible with ours in both directions: a field more, with a default. */
    private static final String ENDLESS = """
            {"type": "record", "name": "Sample", "fields": [
              {"name": "name", "type": "string"},
              {"name": "pad", "type": {"type": "array", "items": {"type": "array", "items": "null"}}, "default": []}]}
            """;

    private static final String DEEP = """
            {"type": "record", "name": "Sample", "fields": [
              {"name": "name", "type": "string"},
              {"name": "pad", "default": null, "type": ["null",
                {"type": "record", "name": "Deep", "fields": [{"name": "next", "type": ["null", "Deep"]}]}]}]}
            """;

    private final FakeRegistry registry = new FakeRegistry();

    @AfterEach
    void close() {
        registry.close();
    }

    private interface Body {
        void write(BinaryEncoder to) throws IOException;
    }

    private byte[] record(String schema, Body body) throws IOException {
        int id = new RegistryClient(RegistrySettings.from(Map.of(RegistrySettings.URL, registry.url())))
                .register("samples-value", new Schema.Parser().parse(schema));
        var out = new ByteArrayOutputStream();
        out.write(ByteBuffer.allocate(WireFormat.HEADER_BYTES)
                .put((byte) 0)
                .putInt(id)
                .array());
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
        encoder.writeString("gpu");
        body.write(encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private Deserializer<?> reader() {
        return SerdeFactory.of(Map.of(RegistrySettings.URL, registry.url()))
                .reading(Map.of("samples", OURS))
                .deserializer();
    }

    @Test
    void aRecordNestedWithoutEndIsPoison() throws IOException {
        byte[] bytes = record(DEEP, to -> {
            for (int i = 0; i < 500_000; i++) {
                to.writeIndex(1);
            }
            to.writeIndex(0);
        });

        assertThatThrownBy(() -> reader().deserialize("samples", bytes)).isInstanceOf(PoisonRecordException.class);
    }

    /** 6 bytes for every hundred million entries that take none; within 10 KB that is hours. */
    @Test
    void entriesThatTakeNoBytesArePoison() throws IOException {
        byte[] bytes = record(ENDLESS, to -> {
            for (int i = 0; i < 1_000; i++) {
                to.writeLong(1);
                to.writeLong(100_000_000);
                to.writeLong(0);
            }
            to.writeLong(0);
        });

        assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertThatThrownBy(() -> reader().deserialize("samples", bytes))
                        .isInstanceOf(PoisonRecordException.class));
    }
}
