package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.lendstream.core.actuation.ActuationSnapshot;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.schemas.codec.RecordMapper;
import io.lendstream.schemas.codec.SchemaDerivation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateFileTest {
    private static final DomainId DOMAIN = new DomainId("d");

    @TempDir
    Path folder;

    @Test
    void reportsThatWaitAreKept() {
        ActuatorState state = state(Optional.of(new ActuatorState.Alone(
                "writer",
                List.of(new ActuationReport(
                        DOMAIN,
                        new DecisionId(DOMAIN, 1, 1),
                        "actuator",
                        Instant.parse("2026-01-01T12:00:00Z"),
                        Outcome.RELEASED,
                        List.of(new GpuId("g")),
                        Optional.empty(),
                        Timings.NONE,
                        "lease ran out")),
                new ActuatorState.Known(List.of(), List.of(), List.of()))));

        StateFile.in(folder).save(state);

        assertThat(StateFile.in(folder).load()).contains(state);
    }

    @Test
    void theFileOfAVersionWhoseReportsCouldNotWaitIsRead() throws IOException {
        ActuatorState state = state(Optional.empty());
        Schema schema = SchemaDerivation.of(ActuatorState.class);
        Schema before = Schema.createRecord(schema.getName(), null, schema.getNamespace(), false);
        before.setFields(schema.getFields().stream()
                .filter(field -> !field.name().equals("alone"))
                .map(field -> new Schema.Field(field, field.schema()))
                .toList());
        GenericRecord all = RecordMapper.of(ActuatorState.class, schema).encode(state);
        GenericRecord record = new GenericData.Record(before);
        before.getFields().forEach(field -> record.put(field.name(), all.get(field.name())));
        try (var file = new DataFileWriter<GenericRecord>(new GenericDatumWriter<>(before))) {
            file.create(before, folder.resolve("actuator.avro").toFile());
            file.append(record);
        }

        assertThat(before.getFields()).hasSize(schema.getFields().size() - 1);
        assertThat(StateFile.in(folder).load()).contains(state);
    }

    @Test
    void aDamagedFileIsLeftAsideWhateverIsWrongInIt() throws IOException {
        StateFile.in(folder).save(state(Optional.empty()));
        Path file = folder.resolve("actuator.avro");
        byte[] good = Files.readAllBytes(file);
        var random = new Random(5);
        for (int i = 0; i < 1_000; i++) {
            byte[] bad = good.clone();
            bad[i < 500 ? good.length - 1 - random.nextInt(200) : random.nextInt(good.length)] =
                    (byte) random.nextInt();
            Files.write(file, bad);

            assertThatCode(() -> StateFile.in(folder).load()).doesNotThrowAnyException();
        }
        Files.write(file, Arrays.copyOf(good, good.length / 2));
        assertThat(StateFile.in(folder).load()).isEmpty();
    }

    private static ActuatorState state(Optional<ActuatorState.Alone> alone) {
        return new ActuatorState(
                "actuator",
                ActuationSnapshot.empty(),
                Map.of("decisions-0", 7L),
                Map.of("actuation-reports-0", 9L),
                Optional.empty(),
                alone);
    }
}
