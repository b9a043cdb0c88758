package io.lendstream.schemas.snapshot;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.ServiceState;
import io.lendstream.schemas.serde.AvroBytes;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;

/** Learned start-up times, and faults of its program, are kept in a service's entry; older entries have none. */
class LearnedStartsTest {
    private static final InferenceService CHAT = Scenario.of("deepboot").serviceRecord("chat", 1);

    @Test
    void theTimesAndTheFaultsAreThereAgain() throws IOException {
        ServiceState started = ServiceState.of(CHAT)
                .started(Optional.of("tp4"), Optional.empty(), true, ofSeconds(40))
                .started(Optional.empty(), Optional.of(new KindId("L4-24GB")), false, ofSeconds(20));
        ServiceState known =
                started.with(started.starts().failed(new NodeId("n1"), "its program is missing", Scenario.START));
        Schema schema = EntryCodecs.schema(SnapshotEntry.SERVICE);

        byte[] entry = EntryCodecs.write(SnapshotEntry.SERVICE, known);
        ServiceState read = EntryCodecs.read(SnapshotEntry.SERVICE, ServiceState.class, entry, schema);

        assertThat(read).isEqualTo(known);
        assertThat(read.timed().warmUp()).isEqualTo(ofSeconds(20));
    }

    @Test
    void anEntryOfAnOlderVersionHasNone() throws IOException {
        Schema now = EntryCodecs.schema(SnapshotEntry.SERVICE);
        Schema older = Schema.createRecord(
                now.getName(),
                null,
                now.getNamespace(),
                false,
                now.getFields().stream()
                        .filter(field -> !Set.of("startUps", "faults").contains(field.name()))
                        .map(field -> new Schema.Field(field, field.schema()))
                        .toList());
        byte[] entry = EntryCodecs.write(SnapshotEntry.SERVICE, ServiceState.of(CHAT));
        GenericRecord whole = AvroBytes.read(entry, now, now);
        GenericRecord less = new GenericData.Record(older);
        older.getFields().forEach(field -> less.put(field.name(), whole.get(field.name())));

        ServiceState read = EntryCodecs.read(SnapshotEntry.SERVICE, ServiceState.class, AvroBytes.write(less), older);

        assertThat(older.getFields()).hasSize(now.getFields().size() - 2);
        assertThat(read.startUps()).isEqualTo(List.of());
        assertThat(read.starts().faults()).isEmpty();
        assertThat(read.timed()).isEqualTo(CHAT);
    }
}
