package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.Admission;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.PausedAt;
import io.lendstream.core.state.ProgramFault;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
final class RoundTripTest {
    private static final RecordMapper<ClusterState> STATE =
            RecordMapper.of(ClusterState.class, SchemaDerivation.of(ClusterState.class));

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

    @Seeds(100)
    void jobsThatWereWrittenBeforeThereWereKindsMayUseAny(long seed) throws IOException {
        TrainingJob job = new AnyRecord(seed).of(TrainingJob.class).onKinds(KindNeeds.ANY);
        Schema now = Codecs.schema(TopicCatalogue.TRAINING_JOBS);
        Schema before = without(now, "allowedKinds", "profileKind", "memoryBytes", "kindTraits");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.TRAINING_JOBS, job), before));

        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, AvroBytes.read(old, before, now)))
                .isEqualTo(job);
    }

    private static InferenceService noShapes(InferenceService service) {
        return service.inShapes(List.of()).withFloors(List.of());
    }

    @Seeds(100)
    void servicesThatWereWrittenBeforeThereWereKindsTakeThemAsAlike(long seed) throws IOException {
        InferenceService service =
                noShapes(new AnyRecord(seed).of(InferenceService.class)).onKinds(List.of());
        Schema now = Codecs.schema(TopicCatalogue.SERVICES);
        Schema before = without(now, "capacities", "shapes", "roleFloors");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.SERVICES, service), before));

        InferenceService read = Codecs.decode(TopicCatalogue.SERVICES, AvroBytes.read(old, before, now));

        assertThat(read).isEqualTo(service);
        assertThat(read.takesKindsAsAlike()).isTrue();
    }

    @Test
    void capacitiesOfKindsComeBack() throws IOException {
        InferenceService service = Scenario.of("deepboot")
                .serviceRecord("chat", 0)
                .onKinds(List.of(
                        KindCapacity.of(new KindId("L4-24GB"), 12.5).warmingUpIn(Duration.ofSeconds(20)),
                        KindCapacity.of(new KindId("Tesla-T4-16GB"), new KindRatio(0.25, 0.2)),
                        new KindCapacity(
                                new KindId("A100-SXM4-80GB"), Optional.empty(), Optional.empty(), Optional.empty())));
        byte[] bytes = AvroBytes.write(Codecs.encode(TopicCatalogue.SERVICES, service));
        Schema schema = Codecs.schema(TopicCatalogue.SERVICES);

        assertThat(Codecs.decode(TopicCatalogue.SERVICES, AvroBytes.read(bytes, schema, schema)))
                .isEqualTo(service);
    }

    @Test
    void shapesOfReplicasComeBack() throws IOException {
        InferenceService service = Scenario.of("deepboot")
                .serviceRecord("chat", 1)
                .inShapes(List.of(
                        ReplicaShape.of("tp4", 4, 1, 20, Duration.ofSeconds(90))
                                .onKinds(List.of(KindCapacity.of(new KindId("A100-SXM4-80GB"), 30)))
                                .withMemory(70L << 30),
                        new ReplicaShape(
                                "wide",
                                ReplicaRole.ALL,
                                8,
                                2,
                                Optional.empty(),
                                List.of(),
                                new StartTimes(
                                        Duration.ofMinutes(5),
                                        Optional.of(Duration.ofMinutes(1)),
                                        Optional.of(Duration.ofSeconds(4))),
                                Optional.empty(),
                                Optional.of(TopologyLevel.RACK))));
        byte[] bytes = AvroBytes.write(Codecs.encode(TopicCatalogue.SERVICES, service));
        Schema schema = Codecs.schema(TopicCatalogue.SERVICES);

        assertThat(Codecs.decode(TopicCatalogue.SERVICES, AvroBytes.read(bytes, schema, schema)))
                .isEqualTo(service);
    }

    @Test
    void rolesAndTheirFloorsComeBack() throws IOException {
        InferenceService service = Scenario.of("deepboot")
                .serviceRecord("chat", 1)
                .inShapes(List.of(
                        ReplicaShape.of("in", 1, 1, 20, Duration.ofSeconds(30)).as(ReplicaRole.PREFILL),
                        ReplicaShape.of("out", 2, 1, 10, Duration.ofSeconds(30)).as(ReplicaRole.DECODE)))
                .withFloors(List.of(new RoleFloor(ReplicaRole.DECODE, 2)));
        Schema now = Codecs.schema(TopicCatalogue.SERVICES);
        byte[] bytes = AvroBytes.write(Codecs.encode(TopicCatalogue.SERVICES, service));
        byte[] old = AvroBytes.write(
                AvroBytes.resolve(Codecs.encode(TopicCatalogue.SERVICES, service), without(now, "roleFloors")));

        assertThat(Codecs.decode(TopicCatalogue.SERVICES, AvroBytes.read(bytes, now, now)))
                .isEqualTo(service);
        assertThat(Codecs.decode(TopicCatalogue.SERVICES, AvroBytes.read(old, without(now, "roleFloors"), now)))
                .isEqualTo(service.withFloors(List.of()));
    }

    @Seeds(100)
    void servicesThatWereWrittenBeforeThereWereShapesHaveReplicasOfOneGpu(long seed) throws IOException {
        InferenceService service = noShapes(new AnyRecord(seed).of(InferenceService.class));
        Schema now = Codecs.schema(TopicCatalogue.SERVICES);
        Schema before = without(now, "shapes", "roleFloors");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.SERVICES, service), before));

        InferenceService read = Codecs.decode(TopicCatalogue.SERVICES, AvroBytes.read(old, before, now));

        assertThat(read).isEqualTo(service);
        assertThat(read.hasGroups()).isFalse();
    }

    @Seeds(100)
    void jobsThatWereWrittenBeforeThereWereShapesMayHaveAnySize(long seed) throws IOException {
        TrainingJob job = new AnyRecord(seed).of(TrainingJob.class).shaped(JobShape.ANY);
        Schema now = Codecs.schema(TopicCatalogue.TRAINING_JOBS);
        Schema before = without(now, "sizes", "multipleOf", "wholeNodes", "topology", "gang");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.TRAINING_JOBS, job), before));

        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, AvroBytes.read(old, before, now)))
                .isEqualTo(job);
    }

    @Seeds(100)
    void nodesThatWereWrittenBeforeThereWereLabelsHaveNone(long seed) throws IOException {
        Node node = new AnyRecord(seed).of(Node.class).with(NodeFacts.NONE);
        Schema now = Codecs.schema(TopicCatalogue.NODES);
        byte[] old =
                AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.NODES, node), without(now, "labels")));

        assertThat(Codecs.decode(TopicCatalogue.NODES, AvroBytes.read(old, without(now, "labels"), now)))
                .isEqualTo(node);
    }

    @Seeds(100)
    void jobsThatWereWrittenBeforeThereWereHostsNeedNothingAndAreNotPaused(long seed) throws IOException {
        TrainingJob any = new AnyRecord(seed).of(TrainingJob.class).needing(HostNeed.USUAL);
        RescaleCosts costs = any.traits().costs();
        TrainingJob job = any.costing(new RescaleCosts(costs.first(), costs.next()));
        Schema now = Codecs.schema(TopicCatalogue.TRAINING_JOBS);
        Schema before =
                SchemaChanges.withoutWithin(without(now, "cpuMillisPerGpu", "memoryBytesPerGpu"), "costs", "pausing");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.TRAINING_JOBS, job), before));

        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, AvroBytes.read(old, before, now)))
                .isEqualTo(job);
    }

    @Test
    void theStateOfAJobFromBeforeThereWereHostsIsRead() throws IOException {
        JobState job = JobState.of(Scenario.of("deepboot").jobRecord("a", 4, true), 7);
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));
        Schema now = mapper.schema();
        Schema before = SchemaChanges.withoutWithin(
                SchemaChanges.withoutWithin(without(now, "paused"), "allocation", "host"),
                "spec",
                "cpuMillisPerGpu",
                "memoryBytesPerGpu");
        byte[] old = AvroBytes.write(AvroBytes.resolve(mapper.encode(job), before));

        assertThat(before.getField("paused")).isNull();
        assertThat(mapper.decode(AvroBytes.read(old, before, now))).isEqualTo(job);
    }

    @Test
    void aPauseIsKeptInTheStateOfItsJob() {
        PausedAt at = new PausedAt(new NodeId("n1"), 24L << 30, Scenario.START);
        JobState job = JobState.of(Scenario.of("deepboot").jobRecord("a", 4, true), 7);
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));

        assertThat(mapper.decode(mapper.encode(job.pausing(at))).paused()).contains(at);
    }

    @Test
    void theStateOfAJobFromBeforeThereWereShapesIsRead() throws IOException {
        JobState job = JobState.of(Scenario.of("deepboot").jobRecord("a", 4, true), 7);
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));
        Schema now = mapper.schema();
        Schema before =
                SchemaChanges.withoutWithin(now, "spec", "sizes", "multipleOf", "wholeNodes", "topology", "gang");
        byte[] old = AvroBytes.write(AvroBytes.resolve(mapper.encode(job), before));

        assertThat(before.getField("spec").schema().getField("multipleOf")).isNull();
        assertThat(mapper.decode(AvroBytes.read(old, before, now))).isEqualTo(job);
    }

    @Test
    void aJobThatNoNumberOfGpusFitsIsRefused() {
        TrainingJob job = Scenario.of("deepboot").jobRecord("a", 6, false).shaped(JobShape.multiples(4));
        GenericRecord encoded = Codecs.encode(TopicCatalogue.TRAINING_JOBS, job);

        assertThatThrownBy(() -> Codecs.decode(TopicCatalogue.TRAINING_JOBS, encoded, Strictness.REFUSE))
                .hasMessageContaining(
                        "a can never start: its shape (multiples of 4 GPUs) allows no number of GPUs from 6 to 6");
        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, encoded)).isEqualTo(job);
    }

    @Test
    void sizesOutOfBoundsAreRefused() {
        GenericRecord encoded = Codecs.encode(
                TopicCatalogue.TRAINING_JOBS,
                Scenario.of("deepboot").jobRecord("a", 4, true).shaped(JobShape.of(List.of(2, 4))));

        encoded.put("multipleOf", 0);
        assertThatThrownBy(() -> Codecs.decode(TopicCatalogue.TRAINING_JOBS, encoded, Strictness.REFUSE))
                .hasMessageContaining("multipleOf must be between 1 and 1000000");

        encoded.put("multipleOf", 1);
        encoded.put("sizes", List.of(2, 0));
        assertThatThrownBy(() -> Codecs.decode(TopicCatalogue.TRAINING_JOBS, encoded, Strictness.REFUSE))
                .hasMessageContaining("sizes[] must be between 1 and 1000000");
    }

    @Seeds(100)
    void progressThatWasWrittenBeforeThereWereKindsNamesNone(long seed) throws IOException {
        TrainingProgress progress =
                new AnyRecord(seed).of(TrainingProgress.class).on(Optional.empty());
        Schema now = Codecs.schema(TopicCatalogue.TRAINING_PROGRESS);
        Schema before = without(now, "kind");
        byte[] old =
                AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.TRAINING_PROGRESS, progress), before));

        assertThat(Codecs.decode(TopicCatalogue.TRAINING_PROGRESS, AvroBytes.read(old, before, now)))
                .isEqualTo(progress);
    }

    @Test
    void theStateOfAJobFromBeforeThereWereKindsIsRead() throws IOException {
        JobState job = JobState.of(Scenario.of("deepboot").jobRecord("a", 4, true), 7);
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));
        Schema now = mapper.schema();
        Schema before = SchemaChanges.withoutWithin(
                without(now, "speedKind", "byKind"),
                "spec",
                "allowedKinds",
                "profileKind",
                "memoryBytes",
                "kindTraits");
        byte[] old = AvroBytes.write(AvroBytes.resolve(mapper.encode(job), before));

        assertThat(before.getField("spec").schema().getField("kindTraits")).isNull();
        assertThat(mapper.decode(AvroBytes.read(old, before, now))).isEqualTo(job);
    }

    @Seeds(100)
    void deadlinesThatWereWrittenBeforeTheyHadKindsAreSoft(long seed) throws IOException {
        TrainingJob job = new AnyRecord(seed).of(TrainingJob.class).due(Scenario.START, DeadlineKind.SOFT);
        Schema now = Codecs.schema(TopicCatalogue.TRAINING_JOBS);
        Schema before = without(now, "deadlineKind");
        byte[] old = AvroBytes.write(AvroBytes.resolve(Codecs.encode(TopicCatalogue.TRAINING_JOBS, job), before));

        assertThat(Codecs.decode(TopicCatalogue.TRAINING_JOBS, AvroBytes.read(old, before, now)))
                .isEqualTo(job);
    }

    @Test
    void aDeadlineOfAKindThatIsAddedLaterIsSoft() throws IOException {
        TrainingJob job = Scenario.of("deepboot").jobRecord("a", 4, true).due(Scenario.START, DeadlineKind.HARD);
        Schema now = Codecs.schema(TopicCatalogue.TRAINING_JOBS);
        Schema later = SchemaChanges.withEverythingGrown(now);
        GenericRecord grown = AvroBytes.resolve(Codecs.encode(TopicCatalogue.TRAINING_JOBS, job), later);
        grown.put(
                "deadlineKind",
                new GenericData.EnumSymbol(later.getField("deadlineKind").schema(), "ADDED_LATER"));

        TrainingJob read =
                Codecs.decode(TopicCatalogue.TRAINING_JOBS, AvroBytes.read(AvroBytes.write(grown), later, now));

        assertThat(job.hardDeadline()).contains(Scenario.START);
        assertThat(read.hardDeadline()).isEmpty();
        assertThat(read.precedence().deadline()).contains(Scenario.START);
    }

    @Test
    void theStateOfAJobFromBeforeThereWereAnswersIsRead() throws IOException {
        JobState job = JobState.of(Scenario.of("deepboot").jobRecord("a", 4, true), 7);
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));
        Schema now = mapper.schema();
        Schema before = SchemaChanges.withoutWithin(without(now, "admission"), "spec", "deadlineKind");
        byte[] old = AvroBytes.write(AvroBytes.resolve(mapper.encode(job), before));

        assertThat(before.getField("spec").schema().getField("deadlineKind")).isNull();
        assertThat(mapper.decode(AvroBytes.read(old, before, now))).isEqualTo(job);
    }

    @Test
    void theAnswerToAJobIsKeptInItsState() throws IOException {
        Admission answer = new Admission(true, 3, Optional.of(new KindId("L4-24GB")), true);
        JobState job = JobState.of(Scenario.of("deepboot").jobRecord("a", 4, true), 7);
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));

        JobState read = mapper.decode(mapper.encode(job.answered(answer)));

        assertThat(read.admission()).contains(answer);
    }

    @Test
    void theWaitForAProgramIsKeptInTheStateOfAJobAndOldStatesHaveNone() throws IOException {
        JobState job = JobState.of(Scenario.of("deepboot").jobRecord("a", 4, true), 7);
        JobState waits = job.with(Optional.of(ProgramFault.after(
                Optional.empty(), new NodeId("n1"), "its program /opt/a does not exist", Scenario.START)));
        RecordMapper<JobState> mapper = RecordMapper.of(JobState.class, SchemaDerivation.of(JobState.class));
        Schema now = mapper.schema();
        Schema before = without(now, "fault");
        byte[] old = AvroBytes.write(AvroBytes.resolve(mapper.encode(waits), before));

        assertThat(mapper.decode(mapper.encode(waits))).isEqualTo(waits);
        assertThat(mapper.decode(AvroBytes.read(old, before, now))).isEqualTo(job);
    }

    private static Schema without(Schema schema, String... fields) {
        assertThat(fields).allMatch(field -> schema.getField(field) != null);
        return SchemaChanges.without(schema, fields);
    }

    @Test
    void ratiosOutOfBoundsAreRefused() {
        GenericRecord encoded = Codecs.encode(
                TopicCatalogue.TRAINING_JOBS,
                Scenario.of("deepboot")
                        .jobRecord("a", 4, true)
                        .onKinds(new KindNeeds(
                                List.of(),
                                Optional.empty(),
                                Optional.empty(),
                                List.of(KindTraits.of(new KindId("L4-24GB"), new KindRatio(2, 0.1))))));
        GenericRecord traits = (GenericRecord) ((List<?>) encoded.get("kindTraits")).get(0);
        ((GenericRecord) traits.get("ratio")).put("factor", 1e6);

        assertThatThrownBy(() -> Codecs.decode(TopicCatalogue.TRAINING_JOBS, encoded, Strictness.REFUSE))
                .hasMessageContaining("factor must be a number between 0.001 and 1000.0");
    }

    @Seeds(200)
    void stateComesBackThroughADerivedSchema(long seed) throws IOException {
        ClusterState state = new AnyRecord(seed).of(ClusterState.class);

        byte[] bytes = AvroBytes.write(STATE.encode(state));

        assertThat(STATE.decode(AvroBytes.read(bytes, STATE.schema(), STATE.schema())))
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
