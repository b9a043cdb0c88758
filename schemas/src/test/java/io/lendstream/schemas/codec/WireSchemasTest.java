package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotKnowledge;
import io.lendstream.schemas.codec.mapping.UnknownKindException;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.WireSchemas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class WireSchemasTest {
    private static final Path AVRO = Path.of("src/main/avro");

    static List<Topic<?>> topics() {
        return TopicCatalogue.ALL;
    }

    @ParameterizedTest
    @MethodSource("topics")
    void aFieldASymbolAndAKindMayBeAddedAnywhereAndAllVersionsReadEachOther(Topic<?> topic) {
        Schema now = Codecs.schema(topic);
        Schema later = SchemaChanges.withEverythingGrown(now);

        assertThat(later).isNotEqualTo(now);
        assertThat(reads(later, now))
                .as("a later reader of records of this version")
                .isTrue();
        assertThat(reads(now, later))
                .as("this version's reader of later records")
                .isTrue();
    }

    private static boolean reads(Schema reader, Schema writer) {
        return SchemaCompatibility.checkReaderWriterCompatibility(reader, writer)
                        .getType()
                == SchemaCompatibilityType.COMPATIBLE;
    }

    @Test
    void aKindThatANewerSchedulerWritesIsUnknownNotUnreadable() throws IOException {
        Schema now = Codecs.schema(TopicCatalogue.DECISIONS);
        Schema later = SchemaChanges.withEverythingGrown(now);
        Decision decision = new AnyRecord(7).of(Decision.class);
        GenericRecord record = AvroBytes.resolve(Codecs.encode(TopicCatalogue.DECISIONS, decision), later);
        GenericRecord action = (GenericRecord) record.get("action");
        action.put(
                "kind",
                new GenericData.EnumSymbol(action.getSchema().getField("kind").schema(), "ADDED_LATER"));

        GenericRecord read = AvroBytes.read(AvroBytes.write(record), later, now);

        assertThatThrownBy(() -> Codecs.decode(TopicCatalogue.DECISIONS, read))
                .isInstanceOf(UnknownKindException.class)
                .hasMessageContaining("Decision.action is of a kind that this version does not know");
    }

    @Test
    void anAbilityThatANewerActuatorWritesCountsAsTheLeast() throws IOException {
        Schema now = Codecs.schema(TopicCatalogue.ACTUATORS);
        Schema later = SchemaChanges.withEverythingGrown(now);
        ActuatorDescription description = new ActuatorDescription(
                "rack-1", new DomainId("d"), Instant.EPOCH, "process", List.of(), Abilities.USUAL);
        GenericRecord record = AvroBytes.resolve(Codecs.encode(TopicCatalogue.ACTUATORS, description), later);
        for (String field : List.of("atBind", "atRelease", "granularity")) {
            record.put(field, new GenericData.EnumSymbol(later.getField(field).schema(), "ADDED_LATER"));
        }

        GenericRecord read = AvroBytes.read(AvroBytes.write(record), later, now);

        Abilities abilities = Codecs.decode(TopicCatalogue.ACTUATORS, read).abilities();
        assertThat(abilities.atBind()).isEqualTo(UnitChoice.NOTHING);
        assertThat(abilities.atRelease()).isEqualTo(UnitChoice.NOTHING);
        assertThat(abilities.granularity()).isEqualTo(Granularity.NODE_GROUP);
    }

    @Test
    void aCertaintyThatThisVersionDoesNotKnowIsASlot() throws IOException {
        Schema now = Codecs.schema(TopicCatalogue.LEASES);
        Schema later = SchemaChanges.withEverythingGrown(now);
        Lease lease = new Lease(
                new GpuId("g"),
                new NodeId("n"),
                new DomainId("d"),
                Pool.INFERENCE,
                new Owner.Free(),
                1,
                1,
                Instant.EPOCH,
                Optional.empty(),
                Optional.empty(),
                Optional.of(SlotKnowledge.named(Optional.of("slurm/1"))),
                Optional.empty());
        GenericRecord record = AvroBytes.resolve(Codecs.encode(TopicCatalogue.LEASES, lease), later);
        GenericRecord slot = (GenericRecord) record.get("slot");
        slot.put(
                "certainty",
                new GenericData.EnumSymbol(
                        slot.getSchema().getField("certainty").schema(), "ADDED_LATER"));

        GenericRecord read = AvroBytes.read(AvroBytes.write(record), later, now);

        SlotKnowledge known = Codecs.decode(TopicCatalogue.LEASES, read).slot().orElseThrow();
        assertThat(known.isSlot()).isTrue();
        assertThat(known.user()).contains("slurm/1");
    }

    @Test
    void aReportOfAnOlderVersionNamesTheUnitsThemselves() throws IOException {
        Schema now = Codecs.schema(TopicCatalogue.ACTUATION_REPORTS);
        Schema before = SchemaChanges.without(now, "placements");
        ActuationReport report = new ActuationReport(
                new DomainId("d"),
                new DecisionId(new DomainId("d"), 1, 1),
                "a",
                Instant.EPOCH,
                Outcome.BOUND,
                List.of(new GpuId("g")),
                Optional.empty(),
                Timings.NONE,
                "");
        GenericRecord record = AvroBytes.resolve(Codecs.encode(TopicCatalogue.ACTUATION_REPORTS, report), before);

        GenericRecord read = AvroBytes.read(AvroBytes.write(record), before, now);

        assertThat(Codecs.decode(TopicCatalogue.ACTUATION_REPORTS, read)).isEqualTo(report);
    }

    @Test
    void everyFileIsUsedByATopicAndSaysWhatItsFieldsAre() throws IOException {
        Set<String> used = new HashSet<>();
        topics().forEach(topic -> collect(Codecs.schema(topic), used));
        try (Stream<Path> files = Files.list(AVRO)) {
            for (Path file : files.toList()) {
                JsonNode json = new ObjectMapper().readTree(Files.readString(file));
                String name = file.getFileName().toString().replace(".avsc", "");
                assertThat(json.path("name").asText()).isEqualTo(name);
                assertThat(json.path("namespace").asText()).isEqualTo(WireSchemas.NAMESPACE);
                assertThat(json.path("doc").asText()).as(name).isNotBlank();
                assertThat(used).contains(WireSchemas.NAMESPACE + "." + name);
                for (JsonNode field : json.path("fields")) {
                    assertThat(field.path("doc").asText())
                            .as(name + "." + field.path("name"))
                            .isNotBlank();
                }
            }
        }
    }

    private static void collect(Schema schema, Set<String> names) {
        switch (schema.getType()) {
            case RECORD -> {
                if (names.add(schema.getFullName())) {
                    schema.getFields().forEach(field -> collect(field.schema(), names));
                }
            }
            case ENUM -> {
                names.add(schema.getFullName());
                assertThat(schema.getEnumDefault()).as(schema.getFullName()).isEqualTo("UNKNOWN");
            }
            case UNION -> schema.getTypes().forEach(type -> collect(type, names));
            case ARRAY -> collect(schema.getElementType(), names);
            case MAP -> collect(schema.getValueType(), names);
            default -> {
                // A primitive has no name.
            }
        }
    }

    @Test
    void aSchemaThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> WireSchemas.of("Nothing")).hasMessageContaining("/io/lendstream/avro/Nothing.avsc");
    }
}
