package io.lendstream.forecaster;

import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.service.Rates;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.Intakes;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.UserCodeClassLoader;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Writers of one intake change no forecast of a domain that it does not list. */
@Timeout(120)
class ForecastsPerDomainTest {
    private static final DomainId OURS = new DomainId("south");
    private static final DomainId THEIRS = new DomainId("east");
    private static final String INTAKES = "team-a=east+west,team-b=south";
    private static final TopicCatalogue SITE =
            new TopicCatalogue("lendstream.", Intakes.parse(INTAKES), Optional.empty());
    private static final Queue<DemandForecast> FORECASTS = new ConcurrentLinkedQueue<>();

    @TempDir
    private Path directory;

    @Test
    void aServiceOfTheSameNameInAnotherDomainHasForecastsOfItsOwn() throws Exception {
        var options = new Configuration();
        options.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        options.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        var environment = StreamExecutionEnvironment.createLocalEnvironment(1, options);
        List<Incoming> records = records();
        new ForecasterJob(ForecasterSettingsTest.settings(SITE).withStateDirectory(directory), Instant::now)
                .build(
                        environment,
                        new ForecasterJob.Sources(
                                new DataGeneratorSource<>(
                                        index -> records().get(index.intValue()),
                                        records.size(),
                                        IncomingSerializer.TYPE),
                                new DataGeneratorSource<>(
                                        index -> new Declared("east/chat", Optional.of(new ReplicaCapacity(1, 7))),
                                        1,
                                        DeclaredSerializer.TYPE)),
                        new ForecasterJob.Sinks(
                                new CollectingSink<>(forecast -> FORECASTS.add(forecast)),
                                new CollectingSink<>(progress -> {}),
                                new CollectingSink<>(letter -> {})));

        environment.execute();

        assertThat(FORECASTS).extracting(DemandForecast::domain).contains(OURS, THEIRS);
        assertThat(FORECASTS)
                .filteredOn(forecast -> forecast.domain().equals(OURS))
                .hasSize(3)
                .allSatisfy(forecast -> {
                    assertThat(forecast.horizons().get(0).p50()).isBetween(0.9, 1.1);
                    assertThat(forecast.horizons().get(0).gpus()).isEmpty();
                });
    }

    /** A request a second of ours, and a thousand of theirs under the same names. */
    private static List<Incoming> records() {
        var gateway = Rates.of("gateway").every(Duration.ofSeconds(30));
        var same = Rates.of("gateway").every(Duration.ofSeconds(30));
        List<Incoming> records = new ArrayList<>();
        for (int window = 0; window < 6; window++) {
            RequestRate ours = Rates.of(gateway.next(30), Rates.SERVICE, OURS);
            RequestRate theirs = Rates.of(same.next(30_000), Rates.SERVICE, THEIRS);
            records.addAll(List.of(new Incoming.Measured(theirs), new Incoming.Measured(ours)));
        }
        return records;
    }

    @Test
    void aRateAboutADomainThatItsIntakeDoesNotListIsPoison() {
        var reader = new RateReader(
                Map.of("value.deserializer", FramedAvro.class.getName()),
                SITE,
                Duration.ofMinutes(5),
                () -> MIDNIGHT.plus(Duration.ofHours(1)),
                1 << 20,
                LetterBounds.DEFAULT);
        reader.open(null);
        byte[] about = FramedAvro.framed(Rates.of(Rates.of("gateway").next(15), Rates.SERVICE, OURS));

        assertThat(read(reader, "lendstream.request-rates.team-a", about))
                .singleElement()
                .isInstanceOfSatisfying(Incoming.Poison.class, poison -> {
                    assertThat(poison.letter().kind()).endsWith(".ForeignDomainException");
                    assertThat(poison.letter().reason()).contains("may write only about east+west");
                });
        assertThat(read(reader, "lendstream.request-rates.team-b", about))
                .singleElement()
                .isInstanceOf(Incoming.Measured.class);
    }

    @Test
    void aDeclarationAndItsTombstoneConcernTheDomainsOfTheirIntake() {
        var reader = new DeclarationReader(
                Map.of("value.deserializer", FramedAvro.class.getName()),
                SITE,
                Duration.ofMinutes(5),
                () -> MIDNIGHT,
                1 << 20);
        reader.open(new DeserializationSchema.InitializationContext() {
            @Override
            public MetricGroup getMetricGroup() {
                return new UnregisteredMetricsGroup();
            }

            @Override
            public UserCodeClassLoader getUserCodeClassLoader() {
                throw new UnsupportedOperationException("the reader loads no classes");
            }
        });

        assertThat(declared(reader, "lendstream.services.team-b", FramedAvro.framed(chat(OURS))))
                .containsExactly(new Declared("south/chat", Optional.of(new ReplicaCapacity(12.5, 2))));
        assertThat(declared(reader, "lendstream.services.team-a", FramedAvro.framed(chat(OURS))))
                .isEmpty();
        assertThat(declared(reader, "lendstream.services.team-a", null))
                .containsExactlyInAnyOrder(
                        new Declared("east/chat", Optional.empty()), new Declared("west/chat", Optional.empty()));
        assertThat(declared(reader, "lendstream.services", null))
                .containsExactly(new Declared("chat", Optional.empty()));
        assertThat(declared(reader, "lendstream.services", "south/chat", null))
                .as("a writer of the base topic cannot take back what team-b declared")
                .doesNotContain(new Declared("south/chat", Optional.empty()));
    }

    @Test
    void aKeyIsTheIdAloneUnlessAnIntakeIsRestrictedToTheDomain() throws Exception {
        var keys = InstantiationUtil.clone(new ServiceKey(Intakes.parse("a=x/y,b=x,oncall=*")));

        assertThat(keys.of(new DomainId("north"), "chat")).isEqualTo("chat");
        assertThat(keys.of(new DomainId("x/y"), "z")).isEqualTo("x%2Fy/z");
        assertThat(keys.of(new DomainId("x"), "y/z")).isEqualTo("x/y/z");
        assertThat(keys.of(new DomainId("north"), "x/z"))
                .as("a service of others that is named like one of x")
                .isNotEqualTo(keys.of(new DomainId("x"), "z"))
                .isEqualTo(keys.ofShared("x/z"));
        assertThat(keys.of(new DomainId("north"), "team/z")).isEqualTo("team/z");
        assertThat(new ServiceKey(Intakes.NONE).of(OURS, Rates.SERVICE)).isEqualTo("chat");
    }

    private static List<Incoming> read(RateReader reader, String topic, byte[] value) {
        List<Incoming> out = new ArrayList<>();
        reader.deserialize(new ConsumerRecord<>(topic, 0, 7L, "chat".getBytes(UTF_8), value), new ListCollector<>(out));
        return out;
    }

    private static List<Declared> declared(DeclarationReader reader, String topic, byte @Nullable [] value) {
        return declared(reader, topic, "chat", value);
    }

    private static List<Declared> declared(
            DeclarationReader reader, String topic, String key, byte @Nullable [] value) {
        List<Declared> out = new ArrayList<>();
        reader.deserialize(new ConsumerRecord<>(topic, 0, 7L, key.getBytes(UTF_8), value), new ListCollector<>(out));
        return out;
    }

    private static GenericRecord chat(DomainId domain) {
        return Codecs.encode(
                TopicCatalogue.SERVICES,
                new InferenceService(
                        new ServiceId("chat"),
                        domain,
                        MIDNIGHT,
                        List.of(),
                        Duration.ofMillis(500),
                        12.5,
                        Optional.empty(),
                        2,
                        Duration.ofSeconds(8)));
    }
}
