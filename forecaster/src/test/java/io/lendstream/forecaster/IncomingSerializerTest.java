package io.lendstream.forecaster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.forecast.service.Rates;
import java.util.List;
import java.util.Optional;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

class IncomingSerializerTest {
    @Test
    void bringsARecordWithAllThatItSaysToAnotherTask() throws Exception {
        RequestRate plain = Rates.of("gateway").next(7);
        var full = new RequestRate(
                plain.service(),
                plain.domain(),
                plain.source(),
                plain.bootId(),
                plain.sequence(),
                plain.windowStart(),
                plain.windowEnd(),
                new RequestRate.Requests(7, 6, 5, 4),
                new RequestRate.Latency(Optional.of(0.25), Optional.of(1.5)),
                List.of(new SizeCount(16, 3), new SizeCount(64, 4)),
                List.of(
                        new BatchTimes(Optional.of("1g.10gb"), 8, 16, 3, 2.5),
                        new BatchTimes(Optional.empty(), 1, 0, 1, 0.5)));

        assertThat(again(new Incoming.Measured(plain))).isEqualTo(new Incoming.Measured(plain));
        assertThat(again(new Incoming.Measured(full))).isEqualTo(new Incoming.Measured(full));
    }

    @Test
    void bringsAPoisonRecordHoweverLongTheReason() throws Exception {
        String reason = "x".repeat(100_000);
        var record = new ConsumerRecord<>("lendstream.request-rates", 1, 5L, "chat".getBytes(UTF_8), new byte[] {1});

        Incoming.Poison poison =
                (Incoming.Poison) again(new Incoming.Poison(new RateDeadLetter(record, "test", reason)));

        assertThat(poison.letter().reason()).isEqualTo(reason);
        assertThat(poison.letter().record().offset()).isEqualTo(5);
        assertThat(poison.letter().record().value()).containsExactly(1);
    }

    private static Incoming again(Incoming incoming) throws Exception {
        var serializer = new IncomingSerializer();
        var out = new DataOutputSerializer(64);
        serializer.serialize(incoming, out);
        return serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    }
}
