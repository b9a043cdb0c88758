package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.ActuationSnapshot;
import io.lendstream.core.actuation.Refusal;
import io.lendstream.schemas.codec.SchemaDerivation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A state file of a later version that counts a refusal for a cause which this version does not know. */
class LaterStateFileTest {
    private static final String LATER = "OF_A_LATER_VERSION";

    @TempDir
    Path folder;

    @Test
    void aRefusalOfUnknownCauseIsLoadedAsSuch() throws IOException {
        StateFile file = StateFile.in(folder);
        file.save(ActuatorState.empty("a"));
        Schema later = new Schema.Parser()
                .parse(SchemaDerivation.of(ActuatorState.class)
                        .toString()
                        .replace("\"LEASE_OVER\"", "\"LEASE_OVER\",\"%s\"".formatted(LATER)));
        GenericRecord state = read(later);
        GenericRecord actuation = (GenericRecord) state.get("actuation");
        Schema counts = actuation.getSchema().getField("refusals").schema();
        Schema count = counts.getElementType();
        var refusal = new GenericData.Record(count);
        refusal.put(
                "refusal", new GenericData.EnumSymbol(count.getField("refusal").schema(), LATER));
        refusal.put("times", 3L);
        actuation.put("refusals", List.of(refusal));
        write(later, state);

        assertThat(file.load().orElseThrow().actuation().refusals())
                .containsExactly(new ActuationSnapshot.Count(Refusal.UNKNOWN, 3));
    }

    private GenericRecord read(Schema schema) throws IOException {
        try (var records = new DataFileReader<GenericRecord>(
                folder.resolve("actuator.avro").toFile(), new GenericDatumReader<>(schema, schema))) {
            return records.next();
        }
    }

    private void write(Schema schema, GenericRecord state) throws IOException {
        try (var records = new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(schema))) {
            records.create(schema, folder.resolve("actuator.avro").toFile());
            records.append(state);
        }
    }
}
