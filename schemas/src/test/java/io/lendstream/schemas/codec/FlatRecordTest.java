package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.JobId;
import io.lendstream.core.persistent.Flat;
import io.lendstream.core.state.JobState;
import io.lendstream.schemas.codec.mapping.InvalidRecordException;
import io.lendstream.schemas.codec.mapping.MismatchException;
import io.lendstream.schemas.serde.AvroBytes;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;

/** Groups of components that are not seen on the wire. */
class FlatRecordTest {
    private record Plain(String name, Instant at, Duration pause, Optional<Integer> share, long count) {}

    private record Grouped(String name, @Flat Outer outer, long count) {}

    private record Outer(Instant at, @Flat Inner inner) {}

    private record Inner(Duration pause, Optional<Integer> share) {
        private Inner {
            if (pause.isNegative()) {
                throw new IllegalArgumentException("pause must not be negative");
            }
        }
    }

    private record Clash(String name, @Flat Named named) {}

    private record Named(String name, int other) {}

    private record FlatName(@Flat JobId job, int other) {}

    private static final Schema SCHEMA = SchemaDerivation.of(Grouped.class);
    private static final RecordMapper<Grouped> MAPPER = RecordMapper.of(Grouped.class, SCHEMA);

    private static Grouped grouped(Optional<Integer> share) {
        return new Grouped("a", new Outer(Instant.ofEpochSecond(5), new Inner(Duration.ofMillis(70), share)), 9);
    }

    @Test
    void theSchemaIsThatOfTheRecordWithoutGroups() {
        assertThat(SCHEMA.getFields())
                .isEqualTo(SchemaDerivation.of(Plain.class).getFields());
    }

    @Test
    void aGroupedRecordIsWrittenAsTheRecordWithoutGroupsAndComesBack() throws IOException {
        Plain plain = new Plain("a", Instant.ofEpochSecond(5), Duration.ofMillis(70), Optional.of(3), 9);
        byte[] bytes = AvroBytes.write(MAPPER.encode(grouped(Optional.of(3))));

        assertThat(bytes)
                .isEqualTo(AvroBytes.write(RecordMapper.of(Plain.class, SCHEMA).encode(plain)));
        assertThat(MAPPER.decode(AvroBytes.read(bytes, SCHEMA, SCHEMA))).isEqualTo(grouped(Optional.of(3)));
        assertThat(MAPPER.decode(MAPPER.encode(grouped(Optional.empty())))).isEqualTo(grouped(Optional.empty()));
    }

    @Test
    void aMissingOrInvalidFieldIsNamedWithoutGroups() {
        GenericRecord missing = MAPPER.encode(grouped(Optional.empty()));
        missing.put("at", null);
        GenericRecord negative = MAPPER.encode(grouped(Optional.empty()));
        negative.put("pauseMillis", -1L);

        assertThatThrownBy(() -> MAPPER.decode(missing))
                .isInstanceOf(InvalidRecordException.class)
                .hasMessage("Grouped.at is missing");
        assertThatThrownBy(() -> MAPPER.decode(negative))
                .isInstanceOf(InvalidRecordException.class)
                .hasMessage("Grouped is not valid: pause must not be negative");
    }

    @Test
    void aSchemaWithoutAFieldOfAGroupIsRefused() {
        assertThatThrownBy(() -> RecordMapper.of(Grouped.class, SchemaChanges.without(SCHEMA, "pauseMillis")))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining("Inner has a component pause, so schema")
                .hasMessageContaining("needs a field pauseMillis");
    }

    @Test
    void twoComponentsOfOneNameAreRefused() {
        Schema schema = SchemaDerivation.of(Named.class);

        assertThatThrownBy(() -> RecordMapper.of(Clash.class, schema))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining("map to the same field name; rename one of them");
        assertThatThrownBy(() -> SchemaDerivation.of(Clash.class)).hasMessageContaining("Duplicate field name");
    }

    @Test
    void onlyARecordOfSeveralFieldsIsFlat() {
        assertThatThrownBy(() -> SchemaDerivation.of(FlatName.class))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining("FlatName.job is marked @Flat");
    }

    @Test
    void boundsOfAGroupsFieldAreThoseOfTheOuterRecord() {
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));
        GenericRecord job = mapper.encode(new AnyRecord(1).of(JobState.class));
        job.put("largestRun", -5);

        assertThat(mapper.decode(job).usage().largestRun()).isZero();
    }
}
