package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.Bucket;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Tick;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.persistent.WhenAbsent;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.codec.mapping.InvalidRecordException;
import io.lendstream.schemas.codec.mapping.MismatchException;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.WireSchemas;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;

final class RecordMapperTest {
    private static final Schema ORIGIN = SchemaBuilder.record("Origin")
            .fields()
            .requiredString("topic")
            .requiredInt("partition")
            .requiredLong("offset")
            .endRecord();

    @Test
    void namesTimesAndLengthsLookPlainOnTheWire() {
        GenericRecord tick = RecordMapper.of(Tick.class, WireSchemas.of("Tick"))
                .encode(new Tick(new DomainId("east"), Instant.ofEpochSecond(5, 123_999_999)));
        GenericRecord bucket = RecordMapper.of(Bucket.class, WireSchemas.of("Bucket"))
                .encode(new Bucket(512, 8, Duration.ofMillis(20)));

        assertThat(tick.get("domain")).isEqualTo("east");
        assertThat(tick.get("at")).isEqualTo(5123L);
        assertThat(bucket.get("maxQueueDelayMillis")).isEqualTo(20L);
    }

    @Test
    void aCaseIsItsKindAndItsField() {
        RecordMapper<Owner> mapper = RecordMapper.of(Owner.class, WireSchemas.of("Owner"));

        GenericRecord training = mapper.encode(new Owner.Training(new JobId("j1")));
        GenericRecord free = mapper.encode(new Owner.Free());

        assertThat(training.get("kind")).hasToString("TRAINING");
        assertThat(training.get("training")).hasToString("{\"job\": \"j1\"}");
        assertThat(training.get("lent")).isNull();
        assertThat(free.get("kind")).hasToString("FREE");
        assertThat(mapper.decode(free)).isEqualTo(new Owner.Free());
    }

    @Test
    void aKindWithoutItsFieldIsPoison() {
        RecordMapper<Owner> mapper = RecordMapper.of(Owner.class, WireSchemas.of("Owner"));
        GenericRecord record = mapper.encode(new Owner.Training(new JobId("j1")));
        record.put("training", null);

        assertThatThrownBy(() -> mapper.decode(record))
                .isInstanceOf(InvalidRecordException.class)
                .hasMessageContaining("Owner has kind TRAINING, but its field training is null");
    }

    @Test
    void aValueThatItsTypeRefusesIsPoisonWithThePlaceAndTheReason() {
        RecordMapper<Tick> mapper = RecordMapper.of(Tick.class, WireSchemas.of("Tick"));
        GenericRecord record = mapper.encode(new Tick(new DomainId("east"), Instant.EPOCH));
        record.put("domain", " ");

        assertThatThrownBy(() -> mapper.decode(record))
                .isInstanceOf(InvalidRecordException.class)
                .hasMessage("Tick.domain is not valid: DomainId must not be blank");
    }

    @Test
    void anotherSchemaIsResolvedFirst() {
        Schema narrower = SchemaBuilder.record("Origin")
                .fields()
                .requiredInt("offset")
                .requiredString("topic")
                .requiredInt("partition")
                .requiredString("extra")
                .endRecord();
        GenericRecord record = new org.apache.avro.generic.GenericRecordBuilder(narrower)
                .set("offset", 3)
                .set("topic", "t")
                .set("partition", 1)
                .set("extra", "x")
                .build();

        assertThat(RecordMapper.of(Origin.class, ORIGIN).decode(record)).isEqualTo(new Origin("t", 1, 3));
    }

    record Ask(List<GpuId> gpus, Map<String, Duration> waits, Duration notice) {}

    record Loose(Object anything) {}

    record Keyed(Map<Integer, String> names) {}

    @Test
    void derivesASchemaThatFits() {
        Schema schema = SchemaDerivation.of(Ask.class);
        Ask ask = new Ask(List.of(new GpuId("g")), Map.of("a", Duration.ofSeconds(1)), Duration.ofSeconds(2));
        RecordMapper<Ask> mapper = RecordMapper.of(Ask.class, schema);

        assertThat(schema.getFields())
                .extracting(Schema.Field::name)
                .containsExactly("gpus", "waitsMillis", "noticeMillis");
        assertThat(mapper.encode(ask))
                .hasToString("{\"gpus\": [\"g\"], \"waitsMillis\": {\"a\": 1000}, \"noticeMillis\": 2000}");
        assertThat(mapper.decode(mapper.encode(ask))).isEqualTo(ask);
    }

    @Test
    void aMismatchIsReportedAtConstructionWithItsPlace() {
        Schema noOffset = SchemaBuilder.record("Origin")
                .fields()
                .requiredString("topic")
                .requiredInt("partition")
                .endRecord();
        Schema wrongType = SchemaBuilder.record("Origin")
                .fields()
                .requiredString("topic")
                .requiredInt("partition")
                .requiredInt("offset")
                .endRecord();
        Schema more = SchemaBuilder.record("Origin")
                .fields()
                .requiredString("topic")
                .requiredInt("partition")
                .requiredLong("offset")
                .requiredString("cluster")
                .endRecord();
        Schema noTime = SchemaBuilder.record("Tick")
                .fields()
                .requiredString("domain")
                .requiredLong("at")
                .endRecord();

        assertMismatch(
                Origin.class,
                noOffset,
                "Origin: io.lendstream.core.event.Origin has a component offset, so schema Origin needs a field offset, but has only [topic, partition]");
        assertMismatch(Origin.class, wrongType, "Origin.offset: long needs a plain long, but the schema has \"int\"");
        assertMismatch(
                Origin.class, more, "field cluster of schema Origin has no component in the type and no default");
        assertMismatch(Tick.class, noTime, "Tick.at: a time needs a long with logical type timestamp-millis");
        assertMismatch(Owner.class, ORIGIN, "needs an enum field 'kind'");
        assertThatThrownBy(() -> SchemaDerivation.of(Loose.class))
                .hasMessageContaining("java.lang.Object cannot be mapped");
        assertThatThrownBy(() -> SchemaDerivation.of(Keyed.class)).hasMessageContaining("cannot be mapped");
    }

    @Test
    void listsAndMapsThatAnOldEntryLacksAreEmpty() throws IOException {
        Schema now = SchemaDerivation.of(Ask.class);
        Schema before = SchemaChanges.without(SchemaChanges.without(now, "gpus"), "waitsMillis");
        GenericData.Record old = new GenericData.Record(before);
        old.put("noticeMillis", 2000L);

        GenericRecord read = AvroBytes.read(AvroBytes.write(old), before, now);

        assertThat(RecordMapper.of(Ask.class, now).decode(read))
                .isEqualTo(new Ask(List.of(), Map.of(), Duration.ofSeconds(2)));
    }

    record Late(
            String name,
            @WhenAbsent("3") int count,
            @WhenAbsent("true") boolean elastic) {}

    record Mistaken(@WhenAbsent("none") String name, int count) {}

    @Test
    void numbersAndBooleansThatAnOldEntryLacksHaveTheirStatedValue() throws IOException {
        Schema now = SchemaDerivation.of(Late.class);
        Schema before = SchemaChanges.without(SchemaChanges.without(now, "count"), "elastic");
        GenericData.Record old = new GenericData.Record(before);
        old.put("name", "a");

        GenericRecord read = AvroBytes.read(AvroBytes.write(old), before, now);

        assertThat(RecordMapper.of(Late.class, now).decode(read)).isEqualTo(new Late("a", 3, true));
        assertThatThrownBy(() -> SchemaDerivation.of(Mistaken.class))
                .hasMessageContaining("@WhenAbsent is for int and boolean");
    }

    @Test
    void aConstantThatTheSchemaLacksIsNamed() {
        Schema poolsOfOld = new Schema.Parser().parse("""
                        {"type":"record","name":"Holder","fields":[{"name":"pool","type":
                          {"type":"enum","name":"Pool","symbols":["UNKNOWN","TRAINING","SPARE"],"default":"UNKNOWN"}}]}""");

        assertMismatch(Holder.class, poolsOfOld, "only the type has [INFERENCE] and only the schema has [SPARE]");
    }

    record Holder(io.lendstream.core.id.Pool pool) {}

    private static void assertMismatch(Class<?> type, Schema schema, String message) {
        assertThatThrownBy(() -> RecordMapper.of(type, schema))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining(message);
    }
}
