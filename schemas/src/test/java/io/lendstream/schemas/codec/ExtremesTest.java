package io.lendstream.schemas.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.ServiceForecaster;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDriver;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every field of every input record at its extremes: the codec refuses the record as poison or takes it, and what it
 * takes stops neither the scheduler, nor the actuator, nor the forecaster. Good records that follow are still
 * decided.
 */
@Tag("long")
class ExtremesTest {
    private static final int PAIRS = 150;
    private static final long SEED = 23;
    /** A record further ahead of the clock goes to the dead letters before it is processed. */
    private static final Duration SKEW = Duration.ofSeconds(60);

    private static final RecordMapper<ClusterState> STATE =
            RecordMapper.of(ClusterState.class, SchemaDerivation.of(ClusterState.class), Strictness.CLAMP);

    private static final Scheduler SCHEDULER = new Scheduler(Policies.parse("lendstream"), SchedulerSettings.DEFAULTS);

    /**
     * A domain at work, to which the extremes happen; its service chat and its job bert are not what they are about.
     */
    private static final Scenario STORY = story();

    /** A good record of each input topic. */
    private static final Map<Topic<?>, GenericRecord> BASES = bases();

    private static Scenario story() {
        Scenario story = new Scenario(SCHEDULER)
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .job("bert", 4);
        for (int i = 0; i < 8; i++) {
            story.rate("chat", 1).settled().after(Duration.ofSeconds(15)).settled();
        }
        return story.progress("bert", JobPhase.RUNNING).settled();
    }

    private static Map<Topic<?>, GenericRecord> bases() {
        Scenario other = new Scenario(SCHEDULER, STORY.now())
                .migNode("other", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4", "7g.80gb@0")
                .queue(
                        "other",
                        Optional.of("all"),
                        new KindQuota(Optional.of(new KindId("A100")), 4, Optional.of(2.0), Optional.of(1.0)))
                .service("other", 0)
                .settled()
                .sample("other", Optional.of(13))
                .job("other", 2)
                .settled()
                .served("other", 5, 0.2, List.of(new BatchTimes(Optional.empty(), 8, 128, 100, 20)))
                .settled()
                .forecast("other", 10)
                .progress("other", JobPhase.RUNNING)
                .control(ControlCommand.Kind.FREEZE)
                .settled();
        Map<Topic<?>, GenericRecord> bases = new LinkedHashMap<>();
        for (Topic<?> topic : TopicCatalogue.ALL) {
            Stream.concat(other.log().stream().map(DomainEvent::event), reports())
                    .filter(event -> topic.type().isInstance(event))
                    .reduce((first, last) -> last)
                    .ifPresent(event -> bases.put(topic, encoded(topic, event)));
        }
        return bases;
    }

    private static Stream<Event> reports() {
        return STORY.decisions().stream()
                .flatMap(decision -> Stream.of(STORY.report(
                        decision.id(),
                        Outcome.BOUND,
                        decision.action().gpus(),
                        Optional.of(new Tenant.Job(new JobId("bert"))))));
    }

    private static <T> GenericRecord encoded(Topic<T> topic, Object value) {
        return Codecs.encode(topic, topic.type().cast(value));
    }

    static List<Topic<?>> inputs() {
        return List.copyOf(BASES.keySet());
    }

    /** What the codec takes of a record's extremes, in either mode, by what is extreme. */
    private static <T> Map<String, T> taken(Topic<T> topic) {
        Extremes extremes = new Extremes(BASES.get(topic));
        List<Extremes.Case> cases = new ArrayList<>(extremes.singles());
        cases.addAll(extremes.pairs(PAIRS, SEED));
        Schema schema = Codecs.schema(topic);
        Map<String, T> taken = new LinkedHashMap<>();
        for (Extremes.Case each : cases) {
            for (Strictness strictness : List.of(Strictness.REFUSE, Strictness.CLAMP)) {
                if (taken.containsKey(each.name() + " REFUSE")) {
                    break; // clamping leaves it as it is
                }
                try {
                    GenericRecord arrived = AvroBytes.read(AvroBytes.write(each.record()), schema, schema);
                    taken.put(each.name() + " " + strictness, Codecs.decode(topic, arrived, strictness));
                } catch (PoisonRecordException e) {
                    assertThat(e.getMessage()).as(each.name()).isNotBlank();
                } catch (NullPointerException | IOException | org.apache.avro.AvroRuntimeException e) {
                    // not a record of this schema: it cannot be written
                    assertThat(each.name()).contains("null");
                }
            }
        }
        return taken;
    }

    @ParameterizedTest
    @MethodSource("inputs")
    void whatIsTakenIsWithinBoundsAndComesBack(Topic<?> topic) {
        assertComesBack(topic);
    }

    private static <T> void assertComesBack(Topic<T> topic) {
        Map<String, T> taken = taken(topic);

        assertThat(taken).hasSizeGreaterThan(100);
        taken.forEach((name, value) -> {
            GenericRecord again = Codecs.encode(topic, value);
            assertThat(Codecs.decode(topic, again)).as(name).isEqualTo(value);
            if (name.endsWith("REFUSE")) {
                assertThat(Codecs.decode(topic, again, Strictness.REFUSE))
                        .as(name)
                        .isEqualTo(value);
            }
        });
    }

    static List<Topic<?>> events() {
        return inputs().stream()
                .filter(topic -> Event.class.isAssignableFrom(topic.type()))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("events")
    void theSchedulerGoesOnAndDecides(Topic<?> topic) {
        List<String> failures = new ArrayList<>();
        taken(topic).forEach((name, value) -> {
            Event event = (Event) value;
            boolean isAhead = event.at().isAfter(STORY.now().plus(SKEW));
            if (event.domain().equals(Scenario.DOMAIN) && !isAhead) {
                try {
                    goOn(event);
                } catch (RuntimeException | AssertionError e) {
                    failures.add(name + ": " + where(e));
                }
            }
        });

        assertThat(failures).isEmpty();
    }

    /** As the scheduler takes an event: not ahead of its clock. */
    private static void goOn(Event event) {
        Instant clock = STORY.now().plusSeconds(60);
        ClusterState state = STORY.state();
        state = step(state, event, event.at().isAfter(clock) ? clock : event.at())
                .state();
        for (int i = 0; i < 4; i++) {
            Instant timer = SCHEDULER.nextTimer(state).orElse(clock);
            Instant at = timer.isAfter(state.now()) ? timer : state.now();
            state = step(state, new Tick(Scenario.DOMAIN, at), at).state();
        }
        Instant now = state.now().plusSeconds(15);
        Step decided = step(state, rate(now, 25), now);
        assertThat(decided.state().services().require(new ServiceId("chat")).arrivalsPerSecond())
                .isEqualTo(25);
        boolean mayTake = state.gpus().stream().anyMatch(ExtremesTest::isUsable);
        boolean isAdvised = decided.state().mode().advisory();
        assertThat(!mayTake || isAdvised || !decided.decisions().isEmpty())
                .as("25 requests/s need 3 replicas")
                .isTrue();

        Instant tomorrow = now.plus(Duration.ofDays(1));
        ClusterState later = step(decided.state(), new Tick(Scenario.DOMAIN, tomorrow), tomorrow)
                .state();
        assertThat(later.now()).isEqualTo(tomorrow);
        later = step(later, rate(tomorrow, 30), tomorrow).state();
        assertThat(STATE.decode(STATE.encode(later)).now()).isEqualTo(tomorrow);
    }

    private static boolean isUsable(GpuState gpu) {
        return gpu.pool() == Pool.INFERENCE && gpu.isWhole() && (gpu.isFree() || gpu.owner() instanceof Owner.Lent);
    }

    private static Step step(ClusterState state, Event event, Instant at) {
        DomainEvent logged =
                new DomainEvent(Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, at, Optional.empty(), event);
        Step step = SCHEDULER.step(state, logged);
        AvroBytes.write(Codecs.encode(TopicCatalogue.DOMAIN_EVENTS, logged));
        for (Decision decision : step.decisions()) {
            AvroBytes.write(Codecs.encode(TopicCatalogue.DECISIONS, decision));
        }
        step.changed()
                .owners()
                .forEach(gpu -> step.state()
                        .gpus()
                        .get(gpu)
                        .ifPresent(owned -> AvroBytes.write(
                                Codecs.encode(TopicCatalogue.LEASES, owned.lease(Scenario.DOMAIN, state.epoch())))));
        return step;
    }

    private static RequestRate rate(Instant now, double perSecond) {
        RequestRate rate = STORY.rateRecord("chat", perSecond, now.getEpochSecond());
        return new RequestRate(
                rate.service(),
                rate.domain(),
                rate.source(),
                rate.bootId(),
                rate.sequence(),
                now.minusSeconds(15),
                now,
                rate.requests(),
                rate.latency(),
                List.of(),
                List.of());
    }

    static List<Topic<?>> ofActuators() {
        return List.of(
                TopicCatalogue.NODES, TopicCatalogue.SERVICES, TopicCatalogue.TRAINING_JOBS, TopicCatalogue.DECISIONS);
    }

    @ParameterizedTest
    @MethodSource("ofActuators")
    void theActuatorGoesOnAndReports(Topic<?> topic) {
        List<String> failures = new ArrayList<>();
        Map<String, ?> taken = topic.equals(TopicCatalogue.DECISIONS) ? decisions() : taken(topic);
        taken.forEach((name, value) -> {
            try {
                actuate(value);
            } catch (RuntimeException | AssertionError e) {
                failures.add(name + ": " + where(e));
            }
        });

        assertThat(failures).isEmpty();
    }

    /** Decisions are written by the scheduler alone, but what they carry came from others once. */
    private static Map<String, Decision> decisions() {
        Map<String, Decision> taken = new LinkedHashMap<>();
        for (Decision decision : STORY.decisions()) {
            for (Extremes.Case each : new Extremes(Codecs.encode(TopicCatalogue.DECISIONS, decision)).singles()) {
                try {
                    taken.put(
                            decision.id() + " " + each.name(), Codecs.decode(TopicCatalogue.DECISIONS, each.record()));
                } catch (PoisonRecordException | NullPointerException e) {
                    assertThat(String.valueOf(e.getMessage())).isNotBlank();
                }
            }
        }
        return taken;
    }

    private static void actuate(Object value) {
        Actuation actuation =
                new Actuation("actuator", Duration.ofSeconds(45), new SimulatedDriver(SimulatedDelays.realistic()));
        for (DomainEvent event : STORY.log()) {
            if (event.event() instanceof Node node) {
                actuation.know(node);
            }
        }
        if (value instanceof Node node) {
            actuation.know(node);
        } else if (value instanceof TrainingJob job) {
            actuation.know(job);
        } else if (value instanceof InferenceService service) {
            actuation.know(service);
        }
        List<ActuationReport> reports = new ArrayList<>();
        Instant now = STORY.now();
        if (value instanceof Decision decision) {
            reports.addAll(actuation.take(decision, now));
        }
        for (Decision decision : STORY.decisions()) {
            reports.addAll(actuation.take(decision, now));
        }
        reports.addAll(actuation.advance(now.plus(Duration.ofDays(1))));
        reports.addAll(actuation.stock());
        assertThat(reports).isNotEmpty();
        for (ActuationReport report : reports) {
            AvroBytes.write(Codecs.encode(TopicCatalogue.ACTUATION_REPORTS, report));
        }
        actuation.snapshot();
    }

    @Test
    void theForecasterGoesOnAndForecasts() {
        List<String> failures = new ArrayList<>();
        taken(TopicCatalogue.REQUEST_RATES).forEach((name, hostile) -> {
            try {
                forecast(hostile);
            } catch (RuntimeException | AssertionError e) {
                failures.add(name + ": " + where(e));
            }
        });

        assertThat(failures).isEmpty();
    }

    private static void forecast(RequestRate hostile) {
        RequestRate good = Codecs.decode(TopicCatalogue.REQUEST_RATES, BASES.get(TopicCatalogue.REQUEST_RATES));
        boolean isAhead = hostile.windowEnd().isAfter(good.windowEnd().plus(SKEW));
        if (isAhead || !hostile.service().equals(good.service())) {
            return;
        }
        ServiceForecaster forecaster =
                new ServiceForecaster(ForecastSettings.DEFAULT, hostile.service(), hostile.domain());
        List<DemandForecast> forecasts = new ArrayList<>();
        observe(forecaster, List.of(good, hostile)).forEach(forecasts::add);
        List<RequestRate> rest = new ArrayList<>();
        for (int i = 1; i <= 40; i++) {
            Instant end = good.windowEnd().plusSeconds(15L * i);
            rest.add(new RequestRate(
                    good.service(),
                    good.domain(),
                    "good",
                    "boot-1",
                    i,
                    end.minusSeconds(15),
                    end,
                    RequestRate.Requests.answered(75),
                    RequestRate.Latency.NOT_MEASURED,
                    List.of(),
                    List.of()));
        }
        observe(forecaster, rest).forEach(forecasts::add);
        forecaster.advanceTo(good.windowEnd().plus(Duration.ofMinutes(20))).ifPresent(forecasts::add);
        ServiceForecaster restored = ServiceForecaster.restore(forecaster.snapshot());

        assertThat(restored.service()).isEqualTo(hostile.service());
        assertThat(forecasts).isNotEmpty();
        forecasts.forEach(each -> AvroBytes.write(Codecs.encode(TopicCatalogue.DEMAND_FORECASTS, each)));
    }

    /** As the forecaster's source: impossible rates go to the dead letters. */
    private static List<DemandForecast> observe(ServiceForecaster forecaster, List<RequestRate> rates) {
        List<DemandForecast> forecasts = new ArrayList<>();
        for (RequestRate rate : rates) {
            try {
                ServiceForecaster.check(rate);
            } catch (IllegalArgumentException e) {
                continue;
            }
            forecaster.observe(rate).ifPresent(forecasts::add);
        }
        return forecasts;
    }

    private static String where(Throwable failure) {
        StackTraceElement[] trace = failure.getStackTrace();
        return failure + " at " + List.of(trace).subList(0, Math.min(6, trace.length));
    }
}
