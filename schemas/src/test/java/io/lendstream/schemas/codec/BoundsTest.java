package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.codec.mapping.Clamped;
import io.lendstream.schemas.codec.mapping.OutOfBoundsException;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values beyond their bounds: refused where others wrote them, clamped where this system did. */
class BoundsTest {
    private final Scenario story = Scenario.of("deepboot")
            .service("chat", 1)
            .queue("team-a", 2)
            .job("bert", 2)
            .rate("chat", 1)
            .progress("bert", JobPhase.RUNNING);

    private <T> GenericRecord record(Topic<T> topic) {
        return story.log().stream()
                .map(event -> event.event())
                .filter(topic.type()::isInstance)
                .map(event -> Codecs.encode(topic, topic.type().cast(event)))
                .findFirst()
                .orElseThrow();
    }

    private static <T> void assertRefused(Topic<T> topic, GenericRecord record, String message) {
        assertThatThrownBy(() -> Codecs.decode(topic, record, Strictness.REFUSE))
                .isInstanceOf(OutOfBoundsException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aWarmUpOfAgesIsRefusedFromOthersAndADayInAnOldState() {
        GenericRecord record = record(TopicCatalogue.SERVICES);
        record.put("warmUpMillis", Long.MAX_VALUE);

        assertRefused(
                TopicCatalogue.SERVICES,
                record,
                "InferenceService.warmUpMillis must be between 0 and 86400000, but was 9223372036854775807");
        InferenceService clamped = Codecs.decode(TopicCatalogue.SERVICES, record);
        assertThat(clamped.warmUp()).isEqualTo(Duration.ofDays(1));
    }

    @Test
    void capacitiesOfKindsAreBounded() {
        GenericRecord record = Codecs.encode(
                TopicCatalogue.SERVICES,
                story.serviceRecord("chat", 1)
                        .onKinds(List.of(
                                KindCapacity.of(new KindId("L4-24GB"), 5).warmingUpIn(Duration.ofSeconds(20)))));
        GenericRecord capacity = (GenericRecord) ((List<?>) record.get("capacities")).get(0);
        capacity.put("perSecond", 0.0);
        assertRefused(
                TopicCatalogue.SERVICES, record, "InferenceService.capacities[].perSecond must be a number between");
        assertThat(Codecs.decode(TopicCatalogue.SERVICES, record)
                        .capacities()
                        .get(0)
                        .perSecond())
                .contains(1e-6);

        capacity.put("perSecond", 5.0);
        capacity.put("warmUpMillis", Long.MAX_VALUE);
        assertRefused(
                TopicCatalogue.SERVICES,
                record,
                "InferenceService.capacities[].warmUpMillis must be between 0 and 86400000, but was 9223372036854775807");
        assertThat(Codecs.decode(TopicCatalogue.SERVICES, record)
                        .capacities()
                        .get(0)
                        .warmUp())
                .contains(Duration.ofDays(1));
    }

    @Test
    void shapesThatCannotBeAreRefused() {
        InferenceService service = story.serviceRecord("chat", 1);
        ReplicaShape one = ReplicaShape.of("tp2", 2, 1, 20, Duration.ofSeconds(30));
        ReplicaShape wide = ReplicaShape.of("wide", 2, 2, 20, Duration.ofSeconds(30));

        assertRefused(
                TopicCatalogue.SERVICES,
                Codecs.encode(
                        TopicCatalogue.SERVICES, service.onSlicesOf(1L << 30).inShapes(List.of(one))),
                "service chat has shapes and sliceMemoryBytes");
        assertRefused(
                TopicCatalogue.SERVICES,
                Codecs.encode(TopicCatalogue.SERVICES, service.inShapes(List.of(one, one))),
                "service chat has two shapes with the name tp2");
        assertRefused(
                TopicCatalogue.SERVICES,
                Codecs.encode(TopicCatalogue.SERVICES, service.inShapes(List.of(wide.within(TopologyLevel.NODE)))),
                "shape wide (2 x 2 GPUs) of service chat has several nodes within one node");
        assertRefused(
                TopicCatalogue.SERVICES,
                Codecs.encode(TopicCatalogue.SERVICES, service.inShapes(List.of(one, wide.as(ReplicaRole.DECODE)))),
                "service chat has shapes of role ALL beside shapes of other roles; declare two services");
    }

    @Test
    void quotasAndWeightsAreBounded() {
        GenericRecord record = record(TopicCatalogue.QUEUES);
        record.put("weight", 0.0);
        assertRefused(TopicCatalogue.QUEUES, record, "ClusterQueue.weight must be a number between");
        assertThat(Codecs.decode(TopicCatalogue.QUEUES, record).weight()).isEqualTo(1e-6);

        GenericRecord huge = record(TopicCatalogue.QUEUES);
        ((GenericRecord) ((List<?>) huge.get("quotas")).get(0)).put("nominalQuota", 1e7);
        assertRefused(TopicCatalogue.QUEUES, huge, "ClusterQueue.quotas[].nominalQuota must be a number between");
        assertThat(Codecs.decode(TopicCatalogue.QUEUES, huge).quotas().get(0).nominalQuota())
                .isEqualTo(1e6);
    }

    @Test
    void aWindowOfMoreThanAnHourIsRefusedFromOthers() {
        GenericRecord record = record(TopicCatalogue.REQUEST_RATES);
        record.put("windowStart", 0L);

        assertRefused(
                TopicCatalogue.REQUEST_RATES,
                record,
                "the window of a request rate may be PT1H at most, but that of chat");
        assertThat(Codecs.decode(TopicCatalogue.REQUEST_RATES, record).windowStart())
                .isEqualTo(Instant.EPOCH);
    }

    @Test
    void aWindowBeforeAllTimeKeepsItsLength() {
        GenericRecord record = record(TopicCatalogue.REQUEST_RATES);
        record.put("windowStart", Long.MIN_VALUE);
        record.put("windowEnd", Long.MIN_VALUE + 15_000);

        assertRefused(
                TopicCatalogue.REQUEST_RATES,
                record,
                "RequestRate.windowStart must be between 1970-01-01T00:00:00Z and 2200-01-01T00:00:00Z");
        RequestRate clamped = Codecs.decode(TopicCatalogue.REQUEST_RATES, record);
        assertThat(clamped.window()).isEqualTo(Duration.ofSeconds(15));
        assertThat(clamped.windowStart()).isEqualTo(Limits.EARLIEST);
    }

    @Test
    void aJobIsNotSubmittedBeforeAllTime() {
        GenericRecord record = record(TopicCatalogue.TRAINING_JOBS);
        record.put("submittedAt", Long.MIN_VALUE);

        assertRefused(TopicCatalogue.TRAINING_JOBS, record, "TrainingJob.submittedAt must be between 1970");
        TrainingJob clamped = Codecs.decode(TopicCatalogue.TRAINING_JOBS, record);
        assertThat(clamped.submittedAt()).isEqualTo(Limits.EARLIEST);
    }

    @Test
    void whatIsNoNumberIsRefusedFromOthersAndTheLeastInAnOldLog() {
        GenericRecord record = record(TopicCatalogue.TRAINING_PROGRESS);
        record.put("progress", Double.POSITIVE_INFINITY);
        assertRefused(TopicCatalogue.TRAINING_PROGRESS, record, "TrainingProgress.progress must be a number between");
        TrainingProgress clamped = Codecs.decode(TopicCatalogue.TRAINING_PROGRESS, record);
        assertThat(clamped.progress()).isEqualTo(1e18);
    }

    @Test
    void whatIsClampedIsCounted() {
        var field = new Clamped.Field("RequestRate", "inFlight");
        long before = Clamped.count(field);
        GenericRecord record = record(TopicCatalogue.REQUEST_RATES);
        record.put("inFlight", Integer.MAX_VALUE);

        assertThat(Codecs.decode(TopicCatalogue.REQUEST_RATES, record)
                        .requests()
                        .inFlight())
                .isEqualTo(100_000_000);
        assertThat(Clamped.count(field)).isEqualTo(before + 1);
        Clamped.each((each, count) -> {
            if (each.equals(field)) {
                assertThat(count.getAsLong()).isEqualTo(before + 1);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\0b",
                "a\nb",
                "\u001b[2J",
                "\u202Eabc",
                "\uD83D\uDE80",
                "a b",
                "it's",
                "a\\b",
                ".",
                "..",
                "a/../b",
                "./a",
                "a/."
            })
    void aNameOfOddCharactersIsRefusedFromOthersAndKeptInAnOldState(String name) {
        GenericRecord record = record(TopicCatalogue.TRAINING_JOBS);
        record.put("job", name);

        assertRefused(TopicCatalogue.TRAINING_JOBS, record, "TrainingJob.job is not valid: JobId ");
        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, record).job().value())
                .isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bert", "team-a/bert.v2", "GPU-5c1f7a30/0:4", "..a", "a..", "$(id)", "x_1@y~z"})
    void otherNamesAreTaken(String name) {
        GenericRecord record = record(TopicCatalogue.TRAINING_JOBS);
        record.put("job", name);

        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, record, Strictness.REFUSE)
                        .job()
                        .value())
                .isEqualTo(name);
    }

    @ParameterizedTest
    @EnumSource(Strictness.class)
    void aLongTextIsCutButNotWithinACharacter(Strictness strictness) {
        GenericRecord record = record(TopicCatalogue.TRAINING_JOBS);
        record.put("application", "x".repeat(Limits.LONGEST_TEXT - 1) + "\uD83D\uDE80");

        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, record, strictness)
                        .application())
                .isEqualTo("x".repeat(Limits.LONGEST_TEXT - 1));
    }

    /** As a version reads what a newer one wrote, in a state that it takes over and in leases. */
    @Test
    void anOwnerStateOfANewerVersionIsOwnedAndNotFree() throws IOException {
        GpuState unit = GpuState.free(new GpuId("g"), new NodeId("n"), Pool.INFERENCE, Scenario.START, 1);
        Lease lease = unit.lease(Scenario.DOMAIN, 1);
        Schema state = SchemaDerivation.of(GpuState.class);
        var mapper = RecordMapper.of(GpuState.class, state, Strictness.CLAMP);

        GpuState loaded = mapper.decode(fromNewer(mapper.encode(unit), state));
        Lease read = Codecs.decode(
                TopicCatalogue.LEASES,
                fromNewer(Codecs.encode(TopicCatalogue.LEASES, lease), Codecs.schema(TopicCatalogue.LEASES)));

        assertThat(loaded.isFree()).isFalse();
        assertThat(loaded.owner()).isEqualTo(Owner.unknown());
        assertThat(read.owner()).isInstanceOf(Owner.Quarantined.class);
    }

    private static GenericRecord fromNewer(GenericRecord record, Schema now) throws IOException {
        Schema later = SchemaChanges.withEverythingGrown(now);
        GenericRecord grown = AvroBytes.resolve(record, later);
        GenericRecord owner = (GenericRecord) grown.get("owner");
        owner.put(
                "kind",
                new GenericData.EnumSymbol(owner.getSchema().getField("kind").schema(), "ADDED_LATER"));
        return AvroBytes.read(AvroBytes.write(grown), later, now);
    }
}
