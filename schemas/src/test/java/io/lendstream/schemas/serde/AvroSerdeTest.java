package io.lendstream.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.schemas.registry.FakeRegistry;
import io.lendstream.schemas.registry.IncompatibleSchemaException;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.registry.RegistryUnavailableException;
import io.lendstream.schemas.registry.SchemaNotFoundException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AvroSerdeTest {
    private static final Schema OLD = SchemaBuilder.record("Sample")
            .namespace("test")
            .fields()
            .requiredString("name")
            .requiredInt("size")
            .name("tags")
            .type()
            .array()
            .items()
            .stringType()
            .noDefault()
            .endRecord();
    /** A field in another place, a wider number, a field more. */
    private static final Schema NEW = SchemaBuilder.record("Sample")
            .namespace("test")
            .fields()
            .requiredLong("size")
            .requiredString("name")
            .name("tags")
            .type()
            .array()
            .items()
            .stringType()
            .noDefault()
            .name("unit")
            .type()
            .stringType()
            .stringDefault("bytes")
            .endRecord();

    private final FakeRegistry registry = new FakeRegistry();

    @AfterEach
    void close() {
        registry.close();
    }

    private Map<String, Object> properties(Object... more) {
        Map<String, Object> properties = new HashMap<>();
        properties.put(RegistrySettings.URL, registry.url());
        properties.put(RegistrySettings.RETRY_WAIT, 1);
        for (int i = 0; i < more.length; i += 2) {
            properties.put((String) more[i], more[i + 1]);
        }
        return properties;
    }

    private Serde<GenericRecord> serde(Object... more) {
        return SerdeFactory.of(properties(more)).serde();
    }

    private RegistryClient client() {
        return new RegistryClient(RegistrySettings.from(properties()));
    }

    private static GenericRecord sample(String name, int size) {
        return new GenericRecordBuilder(OLD)
                .set("name", name)
                .set("size", size)
                .set("tags", java.util.List.of("a", "b"))
                .build();
    }

    @Test
    void readsWhatItWrote() {
        byte[] bytes = serde().serializer().serialize("samples", sample("gpu", 7));

        GenericRecord read = serde().deserializer().deserialize("samples", bytes);

        assertThat(Arrays.copyOf(bytes, 5)).containsExactly(0, 0, 0, 0, 1);
        assertThat(read.toString()).isEqualTo(sample("gpu", 7).toString());
        assertThat(registry.requests()).containsExactly("POST /subjects/samples-value/versions");
    }

    @Test
    void passesTombstonesThrough() {
        assertThat(serde().serializer().serialize("samples", null)).isNull();
        assertThat(serde().deserializer().deserialize("samples", null)).isNull();
    }

    @Test
    void readsOldRecordsInTheSchemaWantedForTheTopic() {
        byte[] bytes = serde().serializer().serialize("samples", sample("gpu", 7));
        var deserializer =
                SerdeFactory.of(properties()).reading(Map.of("samples", NEW)).deserializer();

        GenericRecord read = deserializer.deserialize("samples", bytes);

        assertThat(read.getSchema()).isSameAs(NEW);
        assertThat(read.get("size")).isEqualTo(7L);
        assertThat(read.get("unit")).hasToString("bytes");
        assertThat(deserializer.deserialize("other", bytes).getSchema()).isEqualTo(OLD);
    }

    @Test
    void namesSubjectsAsItsStrategySays() {
        String confluents = "io.confluent.kafka.serializers.subject.TopicRecordNameStrategy";

        serde().serializer().serialize("samples", sample("gpu", 7));
        serde("value.subject.name.strategy", "RecordNameStrategy").serializer().serialize("samples", sample("gpu", 7));
        serde("value.subject.name.strategy", confluents).serializer().serialize("samples", sample("gpu", 7));

        assertThat(client().subjects()).containsExactly("samples-test.Sample", "samples-value", "test.Sample");
        assertThatThrownBy(() -> serde("value.subject.name.strategy", "com.example.Mine"))
                .hasMessageContaining("TopicNameStrategy, RecordNameStrategy, TopicRecordNameStrategy")
                .hasMessageContaining("com.example.Mine");
    }

    @Test
    void keysGetSubjectsOfTheirOwn() {
        Serializer<GenericRecord> serializer = new AvroSerializer();
        serializer.configure(properties(), true);

        serializer.serialize("samples", sample("gpu", 7));

        assertThat(client().subjects()).containsExactly("samples-key");
    }

    @Test
    void withoutAutoRegisterOnlyRegisteredSchemasAreWritten() {
        Serializer<GenericRecord> careful =
                serde(AvroSerializer.AUTO_REGISTER, "false").serializer();

        assertThatThrownBy(() -> careful.serialize("samples", sample("gpu", 7)))
                .isInstanceOf(SchemaNotFoundException.class)
                .hasMessageContaining("samples-value");

        int id = client().register("samples-value", OLD);
        assertThat(WireFormat.schemaId(careful.serialize("samples", sample("gpu", 7))))
                .isEqualTo(id);
    }

    @Test
    void writesAsTheLatestVersionWhenToldTo() {
        Serializer<GenericRecord> latest = serde(AvroSerializer.AUTO_REGISTER, false, AvroSerializer.USE_LATEST, true)
                .serializer();

        assertThatThrownBy(() -> latest.serialize("samples", sample("gpu", 7)))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("subject samples-value has no version");

        int id = client().register("samples-value", NEW);
        byte[] bytes = latest.serialize("samples", sample("gpu", 7));
        assertThat(WireFormat.schemaId(bytes)).isEqualTo(id);
        assertThat(serde().deserializer().deserialize("samples", bytes).get("size"))
                .isEqualTo(7L);
    }

    @Test
    void doesNotWriteUnderASchemaTheRegistryRefuses() {
        client().register("samples-value", NEW);

        assertThatThrownBy(() -> serde().serializer().serialize("samples", incompatible()))
                .isInstanceOf(IncompatibleSchemaException.class);
    }

    private static GenericRecord incompatible() {
        Schema schema = SchemaBuilder.record("Sample")
                .namespace("test")
                .fields()
                .requiredLong("other")
                .endRecord();
        return new GenericRecordBuilder(schema).set("other", 1L).build();
    }

    @Test
    void aRecordThatIsNotWhatItsSchemaSaysIsNotWritten() {
        GenericRecord wrong = new GenericData.Record(OLD);
        wrong.put("name", "gpu");
        wrong.put("size", "large");

        assertThatThrownBy(() -> serde().serializer().serialize("samples", wrong))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("test.Sample");
    }

    @Test
    void tellsPoisonFromARegistryThatIsDown() {
        var deserializer = serde(RegistrySettings.RETRIES, 0).deserializer();
        byte[] sound = serde().serializer().serialize("samples", sample("gpu", 7));

        assertThatThrownBy(() -> deserializer.deserialize("samples", new byte[] {1, 2}))
                .isInstanceOf(MalformedFrameException.class);
        assertThatThrownBy(() -> deserializer.deserialize("samples", new byte[] {0, 0, 0, 0, 99, 1}))
                .isInstanceOf(UnknownSchemaException.class)
                .satisfies(e -> assertThat(PoisonRecordException.causes(new IllegalStateException(e)))
                        .isTrue());
        assertThatThrownBy(() -> deserializer.deserialize("samples", Arrays.copyOf(sound, sound.length - 1)))
                .isInstanceOf(UndecodableRecordException.class)
                .hasMessageContaining("schema id 1");
        assertThatThrownBy(() -> deserializer.deserialize("samples", Arrays.copyOf(sound, sound.length + 2)))
                .isInstanceOf(UndecodableRecordException.class)
                .hasMessageContaining("left over");

        registry.goDown();
        assertThatThrownBy(() -> serde(RegistrySettings.RETRIES, 0, RegistrySettings.READ_TIMEOUT, 777)
                        .deserializer()
                        .deserialize("samples", sound))
                .isInstanceOf(RegistryUnavailableException.class)
                .satisfies(e -> assertThat(PoisonRecordException.causes(e)).isFalse());
        assertThat(deserializer.deserialize("samples", sound).get("size")).isEqualTo(7);
    }

    @Test
    void anythingAtAllIsEitherARecordOrPoison() {
        var deserializer =
                SerdeFactory.of(properties()).reading(Map.of("samples", NEW)).deserializer();
        byte[] sound = serde().serializer().serialize("samples", sample("gpu", 7));
        Random random = new Random(42);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = Arrays.copyOf(sound, random.nextInt(40));
            for (int at = 5; at < bytes.length; at++) {
                if (random.nextInt(3) == 0) {
                    bytes[at] = (byte) random.nextInt(256);
                }
            }
            try {
                assertThat(deserializer.deserialize("samples", bytes)).isNotNull();
            } catch (PoisonRecordException e) {
                assertThat(e).hasMessageNotContaining("null");
            }
        }
    }

    @Test
    void aClaimOfAHugeListOrTextIsPoisonAndCostsNoMemory() {
        int id = client().register("samples-value", OLD);
        var deserializer = serde().deserializer();
        byte[] hugeText = frame(id, 0x80, 0x94, 0xeb, 0xdc, 0x03);
        byte[] hugeList = frame(id, 2, 'x', 2, 0x80, 0x94, 0xeb, 0xdc, 0x03);

        assertThatThrownBy(() -> deserializer.deserialize("samples", hugeText))
                .isInstanceOf(UndecodableRecordException.class);
        assertThatThrownBy(() -> deserializer.deserialize("samples", hugeList))
                .isInstanceOf(UndecodableRecordException.class);
    }

    private static byte[] frame(int id, int... rest) {
        byte[] bytes = Arrays.copyOf(WireFormat.header(id), WireFormat.HEADER_BYTES + rest.length);
        for (int i = 0; i < rest.length; i++) {
            bytes[WireFormat.HEADER_BYTES + i] = (byte) rest[i];
        }
        return bytes;
    }

    /** Stands for a serializer that a site brings along. */
    public static final class Foreign implements Serializer<Object> {
        private boolean configured;

        @Override
        public void configure(Map<String, ?> configs, boolean isKey) {
            configured = configs.containsKey(RegistrySettings.URL) && !isKey;
        }

        @Override
        public byte[] serialize(String topic, Object data) {
            return new byte[] {(byte) (configured && data instanceof GenericRecord ? 1 : 0)};
        }
    }

    @Test
    void usesTheSerializerThatTheSiteNames() {
        Serializer<GenericRecord> foreign = SerdeFactory.of(
                        properties(SerdeFactory.SERIALIZER, Foreign.class.getName()))
                .serializer();

        assertThat(foreign.serialize("samples", sample("gpu", 7))).containsExactly(1);
    }

    @Test
    void aSerializerThatIsNotThereIsNamedWithTheWayOut() {
        String confluents = "io.confluent.kafka.serializers.KafkaAvroSerializer";

        assertThatThrownBy(() -> SerdeFactory.of(properties(SerdeFactory.SERIALIZER, confluents))
                        .serializer())
                .hasMessageContaining("value.serializer names " + confluents)
                .hasMessageContaining("add its jar");
        assertThatThrownBy(() -> SerdeFactory.of(properties(SerdeFactory.DESERIALIZER, "java.lang.String"))
                        .deserializer())
                .hasMessageContaining("cannot be used as a");
    }

    @Test
    void manyThreadsMayWriteWithOneSerializer() {
        Serializer<GenericRecord> serializer = serde().serializer();
        var deserializer = serde().deserializer();

        boolean allRight = IntStream.range(0, 2_000).parallel().allMatch(i -> {
            byte[] bytes = serializer.serialize("samples", sample("gpu-" + i, i));
            return deserializer
                    .deserialize("samples", bytes)
                    .get("name")
                    .toString()
                    .equals("gpu-" + i);
        });

        assertThat(allRight).isTrue();
    }

    @Test
    void threadsThatReadTheirFirstRecordsAtTheSameTimeMayShareADeserializer() throws Exception {
        byte[] bytes = serde().serializer().serialize("samples", sample("gpu", 7));
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 200; round++) {
                var deserializer = serde().deserializer();
                CyclicBarrier start = new CyclicBarrier(4);
                List<Future<String>> names = threads.invokeAll(IntStream.range(0, 4)
                        .<Callable<String>>mapToObj(thread -> () -> {
                            start.await();
                            // Each topic has a reader of its own, so the table of readers grows while others look.
                            IntStream.range(0, 20).forEach(i -> deserializer.deserialize("topic-" + thread + i, bytes));
                            return deserializer
                                    .deserialize("samples", bytes)
                                    .get("name")
                                    .toString();
                        })
                        .toList());
                for (Future<String> name : names) {
                    assertThat(name.get()).isEqualTo("gpu");
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aRecordThatIsBinaryAlreadyIsFramedAsTheRecordItselfWouldBe() {
        var serializer = (AvroSerializer) serde().serializer();
        GenericRecord record = sample("a", 7);

        assertThat(serializer.framed("samples", OLD, AvroBytes.write(record)))
                .hasValueSatisfying(bytes -> assertThat(bytes).isEqualTo(serializer.serialize("samples", record)));
    }

    @Test
    void whereTheNewestSchemaIsAnotherOneTheRecordHasToBeRead() {
        client().register("samples-value", NEW);
        var serializer = (AvroSerializer) serde(AvroSerializer.AUTO_REGISTER, false, AvroSerializer.USE_LATEST, true)
                .serializer();

        assertThat(serializer.framed("samples", OLD, AvroBytes.write(sample("a", 7))))
                .isEmpty();
    }
}
