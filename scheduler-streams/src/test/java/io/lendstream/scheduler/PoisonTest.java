package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.registry.RegistryUnavailableException;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.LetterBounds;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PoisonTest {
    private static final byte[] KEY = "chat".getBytes(UTF_8);

    private final Loop loop = Loop.live();
    private final Scenario story = Scenario.of("deepboot");

    @BeforeEach
    void aServiceIsThere() {
        story.service("chat", 0);
        loop.tell(story.log().get(1).event());
        loop.events();
    }

    @AfterEach
    void close() {
        loop.close();
    }

    /**
     * Bytes that are no request rate.
     *
     * @param make makes them
     */
    record Case(String name, Making make, String exception) {
        interface Making {
            byte[] of(Loop loop, byte[] sound);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> poison() {
        return Stream.of(
                new Case("too short", (loop, sound) -> new byte[] {0, 1}, "MalformedFrameException"),
                new Case("empty", (loop, sound) -> new byte[0], "MalformedFrameException"),
                new Case(
                        "wrong magic",
                        (loop, sound) -> with(sound, bytes -> bytes.put(0, (byte) 7)),
                        "MalformedFrameException"),
                new Case(
                        "plain text",
                        (loop, sound) -> "{\"service\":\"chat\"}".getBytes(UTF_8),
                        "MalformedFrameException"),
                new Case(
                        "unknown schema",
                        (loop, sound) -> with(sound, bytes -> bytes.putInt(1, 4711)),
                        "UnknownSchemaException"),
                new Case(
                        "cut off",
                        (loop, sound) -> Arrays.copyOf(sound, sound.length - 9),
                        "UndecodableRecordException"),
                new Case("another topic's record", (loop, sound) -> node(loop), "UndecodableRecordException"),
                new Case("a check fails", (loop, sound) -> changed(loop, "arrivals", -1L), "OutOfBoundsException"),
                new Case("no domain", (loop, sound) -> changed(loop, "domain", " "), "OutOfBoundsException"),
                new Case("from the future", (loop, sound) -> future(loop), "Poison"));
    }

    @ParameterizedTest
    @MethodSource("poison")
    void goesToTheDeadLettersAndTheStreamGoesOn(Case given) {
        byte[] sound = loop.encode(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 5, 1));
        byte[] poison = given.make.of(loop, sound);

        loop.sendBytes(TopicCatalogue.REQUEST_RATES, KEY, poison);
        loop.sendBytes(TopicCatalogue.REQUEST_RATES, KEY, sound);

        List<TestRecord<byte[], byte[]>> letters = loop.deadLetters(TopicCatalogue.REQUEST_RATES);
        assertThat(letters).hasSize(1);
        assertOrigin(letters.get(0), "lendstream.request-rates", 0, given.exception);
        assertThat(letters.get(0).key()).isEqualTo(KEY);
        assertThat(letters.get(0).value()).isEqualTo(poison);
        assertThat(loop.events())
                .extracting(event -> event.event().getClass().getSimpleName())
                .containsExactly("RequestRate");
        assertThat(loop.count("lendstream.dead.letters")).isEqualTo(1);
    }

    @Test
    void aRecordThatIsTooLargeToDecodeLeavesALetterThatTheProducerCanSend() {
        byte[] sound = loop.encode(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 5, 1));

        loop.sendBytes(TopicCatalogue.REQUEST_RATES, KEY, new byte[1_000_001]);
        loop.sendBytes(TopicCatalogue.REQUEST_RATES, KEY, new byte[3_000_000]);
        loop.sendBytes(TopicCatalogue.REQUEST_RATES, new byte[1_100_000], sound);
        loop.sendBytes(TopicCatalogue.REQUEST_RATES, KEY, sound);

        List<TestRecord<byte[], byte[]>> letters = loop.deadLetters(TopicCatalogue.REQUEST_RATES);
        assertThat(letters).hasSize(3).allSatisfy(letter -> {
            assertThat(Loop.header(letter, DeadLetters.ERROR_MESSAGE)).contains("at most 1000000 bytes");
            assertThat(LetterBounds.size(letter.key(), letter.value(), letter.headers()))
                    .isLessThan((1 << 20) - (48 << 10));
        });
        assertOrigin(letters.get(0), "lendstream.request-rates", 0, "Poison");
        assertThat(Loop.header(letters.get(0), LetterBounds.CUT_FROM)).isEqualTo("1000001");
        assertThat(letters.get(0).value()).hasSizeGreaterThan(900_000);
        assertThat(Loop.header(letters.get(1), LetterBounds.CUT_FROM)).isEqualTo("3000000");
        assertThat(Loop.header(letters.get(2), LetterBounds.KEY_CUT_FROM)).isEqualTo("1100000");
        assertThat(letters.get(2).value()).isEqualTo(sound);
        assertThat(loop.events())
                .extracting(event -> event.event().getClass().getSimpleName())
                .containsExactly("RequestRate");
    }

    private void assertOrigin(TestRecord<byte[], byte[]> letter, String topic, long offset, String exception) {
        assertThat(Loop.header(letter, DeadLetters.TOPIC)).isEqualTo(topic);
        assertThat(Loop.header(letter, DeadLetters.PARTITION)).isEqualTo("0");
        assertThat(Loop.header(letter, DeadLetters.OFFSET)).isEqualTo(Long.toString(offset));
        assertThat(Loop.header(letter, DeadLetters.TIMESTAMP)).isEqualTo(Long.toString(Loop.WALL_CLOCK.toEpochMilli()));
        assertThat(Loop.header(letter, DeadLetters.ERROR_CLASS)).endsWith("." + exception);
        assertThat(Loop.header(letter, DeadLetters.ERROR_MESSAGE)).isNotBlank();
        assertThat(Loop.header(letter, DeadLetters.SERVICE)).isEqualTo("scheduler");
    }

    @Test
    void aRecordWithoutAKeyIsPoison() {
        byte[] sound = loop.encode(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 5, 1));

        loop.sendBytes(TopicCatalogue.REQUEST_RATES, null, sound);

        assertThat(loop.deadLetters(TopicCatalogue.REQUEST_RATES)).hasSize(1);
        assertThat(loop.events()).isEmpty();
    }

    @Test
    void aRecordALittleAheadOfThisClockIsTaken() {
        loop.send(TopicCatalogue.REQUEST_RATES, "chat", ahead(Duration.ofMinutes(4)));

        assertThat(loop.deadLetters(TopicCatalogue.REQUEST_RATES)).isEmpty();
        assertThat(loop.events()).isNotEmpty();
    }

    @Test
    void whatTheCoreThrowsUpOnIsPoisonToo() {
        Instant bad = Scenario.START.plusSeconds(60);
        try (Loop fragile = Loop.with(new Fragile(Policies.parse("deepboot"), bad))) {
            Scenario jobs =
                    Scenario.of("deepboot").node("train", Pool.TRAINING, 1).job("first", 1);
            jobs.log().stream().skip(1).forEach(event -> fragile.tell(event.event()));
            fragile.tell(jobs.after(Duration.ofSeconds(60)).jobRecord("cursed", 1, true));
            TrainingJob fine = jobs.after(Duration.ofSeconds(1)).jobRecord("fine", 1, true);

            fragile.tell(fine);

            List<TestRecord<byte[], byte[]>> letters = fragile.deadLetters(TopicCatalogue.TRAINING_JOBS);
            assertThat(letters).hasSize(1);
            assertOrigin(letters.get(0), "lendstream.training-jobs", 1, "IllegalStateException");
            assertThat(letters.get(0).key()).isEqualTo("cursed".getBytes(UTF_8));
            List<DomainEvent> log = fragile.events();
            assertThat(log).last().extracting(DomainEvent::event).isEqualTo(fine);
            assertThat(SchedulerTopologyTest.decisionsOf(log)).isEqualTo(fragile.decisions());
        }
    }

    @Test
    void aDomainWhoseTimeFailsIsStoppedAndTheProcessGoesOn() {
        try (Loop broken = Loop.with(new Fragile(Policies.parse("deepboot"), Instant.MIN))) {
            Scenario jobs = Scenario.of("deepboot").node("train", Pool.TRAINING, 1);
            broken.tell(jobs.log().get(1).event());

            for (int i = 0; i < 100; i++) {
                broken.tell(jobs.jobRecord("job-" + i, 1, true));
                jobs.after(Duration.ofSeconds(61));
            }

            assertThat(broken.gauge("lendstream.domain.stopped", "domain", "test"))
                    .isEqualTo(1);
            int kept = broken.deadLetters(TopicCatalogue.TRAINING_JOBS).size();
            long taken = broken.events().stream()
                    .filter(event -> event.event() instanceof TrainingJob)
                    .count();
            assertThat(kept)
                    .as("jobs that are not lost: they are in the log or set aside")
                    .isEqualTo(100 - (int) taken);
            assertThat(taken).as("before the first plan was due").isLessThan(3);
        }
    }

    /** Deepboot, but for a bug. */
    private record Fragile(Policy policy, Instant bad) implements Policy {
        @Override
        public PolicyInfo info() {
            return policy.info();
        }

        @Override
        public Duration planEvery() {
            return policy.planEvery();
        }

        @Override
        public Duration protectFor(int warmHits) {
            return policy.protectFor(warmHits);
        }

        @Override
        public Plan plan(ClusterView cluster) {
            if (bad.equals(Instant.MIN) || bad.equals(cluster.now())) {
                throw new IllegalStateException("unforeseen");
            }
            return policy.plan(cluster);
        }

        @Override
        public List<GpuId> victims(ClusterView cluster, int count) {
            return policy.victims(cluster, count);
        }

        @Override
        public List<Alternative> losses(ClusterView cluster, int count) {
            return policy.losses(cluster, count);
        }

        @Override
        public String spec() {
            return policy.spec();
        }
    }

    @Test
    void asksARegistryThatIsAwayAgain() {
        byte[] unknown = withNewSchemaId(loop.encode(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 5, 1)));
        loop.registry().failNext(2);

        loop.sendBytes(TopicCatalogue.REQUEST_RATES, KEY, unknown);

        assertThat(loop.deadLetters(TopicCatalogue.REQUEST_RATES))
                .singleElement()
                .satisfies(letter -> assertOrigin(letter, "lendstream.request-rates", 0, "UnknownSchemaException"));
    }

    @Test
    void neverSkipsARecordBecauseTheRegistryIsAway() {
        byte[] unknown = withNewSchemaId(loop.encode(TopicCatalogue.REQUEST_RATES, story.rateRecord("chat", 5, 1)));
        loop.registry().goDown();

        assertThatThrownBy(() -> loop.sendBytes(TopicCatalogue.REQUEST_RATES, KEY, unknown))
                .hasRootCauseInstanceOf(RegistryUnavailableException.class);

        assertThat(loop.deadLetters(TopicCatalogue.REQUEST_RATES)).isEmpty();
    }

    private static byte[] withNewSchemaId(byte[] sound) {
        return with(sound, bytes -> bytes.putInt(1, 999));
    }

    private static byte[] with(byte[] sound, Consumer<ByteBuffer> change) {
        byte[] copy = sound.clone();
        change.accept(ByteBuffer.wrap(copy));
        return copy;
    }

    private static byte[] node(Loop loop) {
        Event node =
                Scenario.of("deepboot").node("n", Pool.TRAINING, 1).log().get(1).event();
        return loop.encode(TopicCatalogue.NODES, (Node) node);
    }

    private static byte[] changed(Loop loop, String field, Object value) {
        GenericRecord record = Codecs.encode(
                TopicCatalogue.REQUEST_RATES, Scenario.of("deepboot").rateRecord("chat", 5, 1));
        record.put(field, value);
        return loop.encodeRaw(TopicCatalogue.REQUEST_RATES, record);
    }

    private static byte[] future(Loop loop) {
        return loop.encode(
                TopicCatalogue.REQUEST_RATES, ahead(Duration.ofMinutes(5).plusMillis(1)));
    }

    private static RequestRate ahead(Duration time) {
        RequestRate now = Scenario.of("deepboot").rateRecord("chat", 5, 1);
        Duration shift = Duration.between(now.windowEnd(), Loop.WALL_CLOCK).plus(time);
        return new RequestRate(
                now.service(),
                now.domain(),
                now.source(),
                now.bootId(),
                now.sequence(),
                now.windowStart().plus(shift),
                now.windowEnd().plus(shift),
                now.requests(),
                now.latency(),
                now.inputSizes(),
                List.of());
    }
}
