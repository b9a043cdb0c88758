package io.lendstream.launcher.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.CompatibilityLevel;
import io.lendstream.schemas.registry.IncompatibleSchemaException;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.registry.SchemaNotFoundException;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.schemas.topics.SubjectReport.Status;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.TopicState;
import io.lendstream.schemas.topics.TopicState.Presence;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@Timeout(value = 3, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class InteropIT {
    /** A Python interpreter that has {@code confluent-kafka[avro,schemaregistry]}. */
    private static final String PYTHON = "LENDSTREAM_TEST_PYTHON";

    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final Decision DECISION = new Decision(
            new DecisionId(new DomainId("east"), 3, 17),
            Instant.ofEpochMilli(1_700_000_000_123L),
            Instant.ofEpochMilli(1_700_000_060_123L),
            true,
            new Reason("plan", "2 GPUs are idle", Map.of("idleGpus", 2.0), List.of(41L, 42L)),
            new Action.Lend(
                    new JobId("job-1"),
                    List.of(new GpuId("GPU-a"), new GpuId("GPU-b")),
                    Instant.ofEpochMilli(1_700_000_300_000L),
                    new Allocation(List.of(new GpuId("GPU-a"), new GpuId("GPU-b")), 32, 1, 1.5, Mechanism.AFE)));

    private final Stack stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {});
    private final Map<String, Object> properties = Map.of(
            "bootstrap.servers",
            stack.bootstrapServers(),
            RegistrySettings.URL,
            stack.confluentUrl().toString());
    private final RegistryClient ours = new RegistryClient(RegistrySettings.from(properties));
    private final CachedSchemaRegistryClient confluents =
            new CachedSchemaRegistryClient(stack.confluentUrl().toString(), 100);

    private List<TopicState> created = List.of();
    private List<SubjectReport> registered = List.of();

    @BeforeAll
    void setUpTheCluster() {
        created = topics(admin -> admin.create(2, 1));
        registered = new SchemaSet(ours, TOPICS).register();
    }

    @AfterAll
    void stop() {
        stack.close();
    }

    @Test
    void theCatalogueIsCreatedOnceAndThenFoundAsItWasMade() {
        assertThat(created).allMatch(topic -> topic.presence() == Presence.CREATED);
        assertThat(topics(admin -> admin.create(2, 1)))
                .allMatch(topic -> topic.presence() == Presence.PRESENT)
                .allSatisfy(topic -> assertThat(topic.drifts()).as(topic.name()).isEmpty());
    }

    private List<TopicState> topics(java.util.function.Function<TopicAdmin, List<TopicState>> work) {
        try (Admin admin = Admin.create(properties)) {
            return work.apply(new TopicAdmin(admin, TOPICS));
        }
    }

    @Test
    void everySubjectIsRegisteredOnceAndHeldToFullTransitiveCompatibility() {
        assertThat(registered).allMatch(report -> report.status() == Status.NEW_VERSION);
        assertThat(new SchemaSet(ours, TOPICS).register()).allMatch(report -> report.status() == Status.PRESENT);
        assertThat(new SchemaSet(ours, TOPICS).check())
                .allSatisfy(report ->
                        assertThat(report.messages()).as(report.subject()).isEmpty());
        for (Topic<?> topic : TopicCatalogue.ALL) {
            assertThat(ours.compatibility(TOPICS.subject(topic))).contains(CompatibilityLevel.FULL_TRANSITIVE);
            assertThat(ours.versions(TOPICS.subject(topic))).containsExactly(1);
        }
    }

    @Test
    void theRegistryRefusesWhatOldReadersCouldNotRead() {
        Schema narrowed = SchemaBuilder.record("Lease")
                .namespace("io.lendstream")
                .fields()
                .requiredLong("gpuId")
                .endRecord();
        String subject = TOPICS.subject(TopicCatalogue.LEASES);

        assertThat(ours.check(subject, narrowed).compatible()).isFalse();
        assertThatThrownBy(() -> ours.register(subject, narrowed)).isInstanceOf(IncompatibleSchemaException.class);
        assertThatThrownBy(() -> ours.schemaById(999_999)).isInstanceOf(SchemaNotFoundException.class);
        assertThat(ours.latest("missing-value")).isEmpty();
        assertThat(ours.versions("missing-value")).isEmpty();
        assertThat(ours.compatibility("missing-value")).isEmpty();
        assertThatThrownBy(() -> ours.idOf("missing-value", narrowed)).isInstanceOf(SchemaNotFoundException.class);
    }

    @Test
    void confluentsClientFindsOurSubjectsUnderTheSameIds() throws Exception {
        assertThat(confluents.getAllSubjects())
                .containsAll(registered.stream().map(SubjectReport::subject).toList());
        for (SubjectReport report : registered) {
            int id = report.id().orElseThrow();
            AvroSchema schema = (AvroSchema) confluents.getSchemaById(id);
            assertThat(new Schema.Parser().parse(schema.canonicalString())).isEqualTo(ours.schemaById(id));
            assertThat(confluents.register(report.subject(), schema)).isEqualTo(id);
            assertThat(confluents.getLatestSchemaMetadata(report.subject()).getId())
                    .isEqualTo(id);
            assertThat(confluents.testCompatibility(report.subject(), schema)).isTrue();
            assertThat(confluents.getCompatibility(report.subject())).isEqualTo("FULL_TRANSITIVE");
        }
    }

    @Test
    void weFindWhatConfluentsClientRegisters() throws Exception {
        Schema schema = SchemaBuilder.record("Theirs")
                .namespace("other")
                .fields()
                .requiredString("name")
                .endRecord();

        int id = confluents.register("theirs-value", new AvroSchema(schema.toString()));

        assertThat(ours.schemaById(id)).isEqualTo(schema);
        assertThat(ours.idOf("theirs-value", schema)).isEqualTo(id);
        assertThat(ours.register("theirs-value", schema)).isEqualTo(id);
    }

    @Test
    void aDecisionComesBackThroughTheBroker() throws Exception {
        send(TopicCatalogue.DECISIONS, "east", DECISION);

        assertThat(read(TopicCatalogue.DECISIONS, "east")).isEqualTo(DECISION);
    }

    @Test
    @EnabledIfEnvironmentVariable(named = PYTHON, matches = ".+")
    void aPythonProgramReadsOurDecisionsAndWritesNodesThatWeRead() throws Exception {
        send(TopicCatalogue.DECISIONS, "east", DECISION);

        JsonNode seen = new ObjectMapper().readTree(runPython());

        assertThat(seen.at("/id/domain").asText()).isEqualTo("east");
        assertThat(seen.at("/id/sequence").asLong()).isEqualTo(17);
        assertThat(seen.at("/at").asLong()).isEqualTo(1_700_000_000_123L);
        assertThat(seen.at("/advisory").asBoolean()).isTrue();
        assertThat(seen.at("/reason/numbers/idleGpus").asDouble()).isEqualTo(2.0);
        assertThat(seen.at("/action/kind").asText()).isEqualTo("LEND");
        assertThat(seen.at("/action/lend/gpus/1").asText()).isEqualTo("GPU-b");
        assertThat(seen.at("/action/lend/allocation/mechanism").asText()).isEqualTo("AFE");
        assertThat(seen.at("/action/hold").isNull()).isTrue();
        assertThat(read(TopicCatalogue.NODES, "node-of-python")).isEqualTo(nodeOfPython());
    }

    private static Node nodeOfPython() {
        GpuInstance half = new GpuInstance(new GpuId("GPU-1/0:4"), "3g.40gb", 0, 4, 42_949_672_960L, Optional.empty());
        Gpu gpu = new Gpu(
                new GpuId("GPU-1"),
                0,
                "NVIDIA H100",
                85_899_345_920L,
                Optional.empty(),
                true,
                List.of(half),
                false,
                List.of());
        return new Node(
                new NodeId("node-of-python"),
                new DomainId("east"),
                Pool.INFERENCE,
                "boot-1",
                Instant.ofEpochSecond(1_700_000_000L),
                NodeStatus.READY,
                List.of(gpu));
    }

    private String runPython() throws Exception {
        String python = System.getenv().getOrDefault(PYTHON, "python3");
        Path script = Installation.find().home().resolve("launcher/src/test/python/interop.py");
        Process process = new ProcessBuilder(
                        python,
                        script.toString(),
                        stack.bootstrapServers(),
                        stack.confluentUrl().toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output.lines().filter(line -> line.startsWith("{")).findFirst().orElseThrow();
    }

    private <T> void send(Topic<T> topic, String key, T value) throws Exception {
        try (var producer = new KafkaProducer<>(
                properties, new StringSerializer(), SerdeFactory.of(properties).serializer())) {
            producer.send(new ProducerRecord<>(TOPICS.name(topic), key, Codecs.encode(topic, value)))
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private <T> T read(Topic<T> topic, String key) {
        var values = SerdeFactory.of(properties)
                .reading(Codecs.readerSchemas(TOPICS))
                .deserializer();
        Map<String, Object> client = new HashMap<>(properties);
        client.put("auto.offset.reset", "earliest");
        try (var consumer = new KafkaConsumer<String, GenericRecord>(client, new StringDeserializer(), values)) {
            List<TopicPartition> partitions = consumer.partitionsFor(TOPICS.name(topic)).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long until = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            while (System.nanoTime() - until < 0) {
                for (ConsumerRecord<String, GenericRecord> record : consumer.poll(Duration.ofSeconds(1))) {
                    if (record.key().equals(key)) {
                        return Codecs.decode(topic, record.value());
                    }
                }
            }
            throw new AssertionError("no record with key %s came within 30 s".formatted(key));
        }
    }
}
