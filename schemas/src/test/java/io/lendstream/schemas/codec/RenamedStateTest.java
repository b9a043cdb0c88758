package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueuePosition;
import io.lendstream.schemas.serde.AvroBytes;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/** State of a version that had another name for a record inside it, and the way back to that version. */
class RenamedStateTest {
    private static final Schema NOW = SchemaDerivation.of(JobState.class);
    private static final Schema BEFORE =
            new Schema.Parser().parse(NOW.toString().replace("\"QueuePosition\"", "\"Standing\""));

    private static JobState queued() {
        var position = new QueuePosition(1, Scenario.START, Duration.ofMinutes(7), Optional.of(Scenario.START));
        return JobState.of(Scenario.of("tiresias").jobRecord("a", 2, false), 1).standing(position);
    }

    @Test
    void aJobsPlaceInTheQueueSurvivesAnUpgradeAndTheWayBack() throws IOException {
        assertThat(BEFORE).isNotEqualTo(NOW);

        assertThat(passed(BEFORE, NOW)).isEqualTo(queued());
        assertThat(passed(NOW, BEFORE)).isEqualTo(queued());
    }

    private static JobState passed(Schema writer, Schema reader) throws IOException {
        byte[] stored = AvroBytes.write(RecordMapper.of(JobState.class, writer).encode(queued()));
        return RecordMapper.of(JobState.class, reader).decode(AvroBytes.read(stored, writer, reader));
    }
}
