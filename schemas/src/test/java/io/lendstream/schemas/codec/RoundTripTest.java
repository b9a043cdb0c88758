package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;

final class RoundTripTest {
    @Seeds(3000)
    void whatATopicCarriesComesBackAsItWas(Random random) throws IOException {
        assertComesBack(anyTopic(random), random.nextLong());
    }

    private static Topic<?> anyTopic(Random random) {
        return TopicCatalogue.ALL.get(random.nextInt(TopicCatalogue.ALL.size()));
    }

    private static <T> void assertComesBack(Topic<T> topic, long seed) throws IOException {
        T value = new AnyRecord(seed).of(topic.type());
        Schema schema = Codecs.schema(topic);

        GenericRecord encoded = Codecs.encode(topic, value);
        GenericRecord read = AvroBytes.read(AvroBytes.write(encoded), schema, schema);

        assertThat(GenericData.get().validate(schema, encoded)).isTrue();
        assertThat(Codecs.decode(topic, read)).isEqualTo(value);
        assertThat(Codecs.decode(topic, encoded)).isEqualTo(value);
        assertThat(AvroBytes.write(Codecs.encode(topic, Codecs.decode(topic, read))))
                .isEqualTo(AvroBytes.write(encoded));
    }

    @Seeds(500)
    void aNewerWritersFieldsAreLeftOut(Random random) throws IOException {
        assertReadsNewer(anyTopic(random), random.nextLong());
    }

    private static <T> void assertReadsNewer(Topic<T> topic, long seed) throws IOException {
        T value = new AnyRecord(seed).of(topic.type());
        Schema newer = SchemaChanges.withField(Codecs.schema(topic));
        GenericRecord record = AvroBytes.resolve(Codecs.encode(topic, value), newer);
        record.put("addedLater", "by a newer writer");

        assertThat(Codecs.decode(topic, record)).isEqualTo(value);
    }

    @Seeds(100)
    void ratesThatWereWrittenBeforeThereWereBatchesHaveNone(long seed) throws IOException {
        RequestRate rate = new AnyRecord(seed).of(RequestRate.class).with(List.of());
        Schema now = Codecs.schema(TopicCatalogue.REQUEST_RATES);
        Schema before = SchemaChanges.without(now, "batches");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.REQUEST_RATES, rate), before));

        assertThat(before).isNotEqualTo(now);
        assertThat(Codecs.decode(TopicCatalogue.REQUEST_RATES, AvroBytes.read(old, before, now)))
                .isEqualTo(rate);
    }

    @Seeds(200)
    void stateComesBackThroughADerivedSchema(long seed) throws IOException {
        RecordMapper<ClusterState> mapper =
                RecordMapper.of(ClusterState.class, SchemaDerivation.of(ClusterState.class));
        ClusterState state = new AnyRecord(seed).of(ClusterState.class);

        byte[] bytes = AvroBytes.write(mapper.encode(state));

        assertThat(mapper.decode(AvroBytes.read(bytes, mapper.schema(), mapper.schema())))
                .isEqualTo(state);
    }

    @Test
    void aSchemaMayHaveAFieldMoreThanTheTypeIfItHasADefault() {
        Schema schema = SchemaBuilder.record("Origin")
                .fields()
                .requiredString("topic")
                .requiredInt("partition")
                .requiredLong("offset")
                .name("cluster")
                .type()
                .stringType()
                .stringDefault("main")
                .endRecord();
        var mapper = RecordMapper.of(io.lendstream.core.event.Origin.class, schema);

        assertThat(mapper.encode(new io.lendstream.core.event.Origin("t", 1, 2)).get("cluster"))
                .hasToString("main");
    }
}
