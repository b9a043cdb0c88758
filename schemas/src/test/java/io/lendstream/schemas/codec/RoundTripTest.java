package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.state.ClusterState;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;

final class RoundTripTest {
    @Provide
    Arbitrary<Topic<?>> topics() {
        return Arbitraries.of(TopicCatalogue.ALL);
    }

    @Property(tries = 3000)
    void whatATopicCarriesComesBackAsItWas(@ForAll("topics") Topic<?> topic, @ForAll long seed) throws IOException {
        assertComesBack(topic, seed);
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

    @Property(tries = 500)
    void aNewerWritersFieldsAreLeftOut(@ForAll("topics") Topic<?> topic, @ForAll long seed) throws IOException {
        assertReadsNewer(topic, seed);
    }

    private static <T> void assertReadsNewer(Topic<T> topic, long seed) throws IOException {
        T value = new AnyRecord(seed).of(topic.type());
        Schema newer = SchemaChanges.withField(Codecs.schema(topic));
        GenericRecord record = AvroBytes.resolve(Codecs.encode(topic, value), newer);
        record.put("addedLater", "by a newer writer");

        assertThat(Codecs.decode(topic, record)).isEqualTo(value);
    }

    @Property(tries = 100)
    void ratesThatWereWrittenBeforeThereWereBatchesHaveNone(@ForAll long seed) throws IOException {
        RequestRate rate = new AnyRecord(seed).of(RequestRate.class).with(List.of());
        Schema now = Codecs.schema(TopicCatalogue.REQUEST_RATES);
        Schema before = SchemaChanges.without(now, "batches");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.REQUEST_RATES, rate), before));

        assertThat(before).isNotEqualTo(now);
        assertThat(Codecs.decode(TopicCatalogue.REQUEST_RATES, AvroBytes.read(old, before, now)))
                .isEqualTo(rate);
    }

    @Property(tries = 200)
    void stateComesBackThroughADerivedSchema(@ForAll long seed) throws IOException {
        RecordMapper<ClusterState> mapper =
                RecordMapper.of(ClusterState.class, SchemaDerivation.of(ClusterState.class));
        ClusterState state = new AnyRecord(seed).of(ClusterState.class);

        byte[] bytes = AvroBytes.write(mapper.encode(state));

        assertThat(mapper.decode(AvroBytes.read(bytes, mapper.schema(), mapper.schema())))
                .isEqualTo(state);
    }

    @Property(tries = 1)
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
