package io.lendstream.forecaster;

import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.demand.RoleCapacity;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.UserCodeClassLoader;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeclarationReaderTest {
    private final Counter poison = new SimpleCounter();
    private final DeclarationReader reader = new DeclarationReader(
            Map.of("value.deserializer", FramedAvro.class.getName()),
            TopicCatalogue.standard(),
            Duration.ofMinutes(5),
            () -> MIDNIGHT,
            1 << 20);

    @BeforeEach
    void open() {
        reader.open(new DeserializationSchema.InitializationContext() {
            @Override
            public MetricGroup getMetricGroup() {
                return new UnregisteredMetricsGroup() {
                    @Override
                    public Counter counter(String name) {
                        assertThat(name).isEqualTo("poisonDeclarations");
                        return poison;
                    }
                };
            }

            @Override
            public UserCodeClassLoader getUserCodeClassLoader() {
                throw new UnsupportedOperationException("the reader loads no classes");
            }
        });
    }

    @Test
    void readsWhatAReplicaOfAServiceAnswers() throws Exception {
        var declared = new Declared("chat", Optional.of(new ReplicaCapacity(12.5, 2)));

        assertThat(read("chat", FramedAvro.framed(declaration()))).containsExactly(declared);
        assertThat(again(declared)).isEqualTo(declared);
    }

    @Test
    void rolesReachTheForecaster() throws Exception {
        var roles = List.of(new RoleCapacity(ReplicaRole.DECODE, 12.5, 2, 4));

        assertThat(again(new Declared("chat", Optional.of(new ReplicaCapacity(12.5, 2, roles)))))
                .isEqualTo(new Declared("chat", Optional.of(new ReplicaCapacity(12.5, 2, roles))));
    }

    @Test
    void aTombstoneTakesADeclarationBack() throws Exception {
        var takenBack = new Declared("chat", Optional.empty());

        assertThat(read("chat", null)).containsExactly(takenBack);
        assertThat(again(takenBack)).isEqualTo(takenBack);
        assertThat(poison.getCount()).isZero();
    }

    @Test
    void countsAndIgnoresImpossibleDeclarations() {
        GenericRecord nothing = declaration();
        nothing.put("replicaCapacityPerSecond", 0.0);
        GenericRecord tomorrow = declaration();
        tomorrow.put("at", MIDNIGHT.plus(Duration.ofDays(1)).toEpochMilli());

        assertThat(read("chat", FramedAvro.framed(nothing))).isEmpty();
        assertThat(read("chat", FramedAvro.framed(tomorrow))).isEmpty();
        assertThat(read("chat", "hello".getBytes(UTF_8))).isEmpty();
        assertThat(read((byte[]) null, null)).isEmpty();
        assertThat(poison.getCount()).isEqualTo(4);
    }

    @Test
    void countsAndLeavesOutARecordWhoseKeyIsNoName() throws Exception {
        byte[] good = FramedAvro.framed(declaration());
        List<@Nullable String> illegal =
                new ArrayList<>(List.of("", "..", "chat\u001b[2J", "\u202etahc", "c".repeat(250)));
        illegal.add(null);

        for (@Nullable String key : illegal) {
            assertThat(read(key, good)).as("declared by key %s", key).isEmpty();
            assertThat(read(key, null)).as("taken back by key %s", key).isEmpty();
        }
        assertThat(read(new byte[] {'c', (byte) 0xff}, good)).isEmpty();
        assertThat(read(new byte[] {'c', (byte) 0xff}, null)).isEmpty();

        assertThat(poison.getCount()).isEqualTo(2 * illegal.size() + 2);
    }

    private static GenericRecord declaration() {
        return Codecs.encode(
                TopicCatalogue.SERVICES,
                new InferenceService(
                        new ServiceId("chat"),
                        new DomainId("east"),
                        MIDNIGHT,
                        List.of(),
                        Duration.ofMillis(500),
                        12.5,
                        Optional.empty(),
                        2,
                        Duration.ofSeconds(8)));
    }

    private List<Declared> read(@Nullable String key, byte @Nullable [] value) {
        return read(key == null ? null : key.getBytes(UTF_8), value);
    }

    private List<Declared> read(byte @Nullable [] key, byte @Nullable [] value) {
        List<Declared> out = new ArrayList<>();
        reader.deserialize(new ConsumerRecord<>("lendstream.services", 0, 7L, key, value), new ListCollector<>(out));
        return out;
    }

    private static Declared again(Declared declared) throws Exception {
        var serializer = new DeclaredSerializer();
        var out = new DataOutputSerializer(64);
        serializer.serialize(declared, out);
        return serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    }
}
