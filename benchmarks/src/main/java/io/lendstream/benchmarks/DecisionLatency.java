package io.lendstream.benchmarks;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Timings;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.stack.Installation;
import io.lendstream.launcher.stack.Ports;
import io.lendstream.launcher.stack.Readiness;
import io.lendstream.launcher.stack.ServiceKind;
import io.lendstream.launcher.stack.Stack;
import io.lendstream.launcher.stack.StackSettings;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.CommonKeys;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;

/**
 * From a request-rate record written to the decision that it calls for read, through the broker and the scheduler; beside a
 * record written and read on the same broker in the same run. Under at-least-once and under exactly-once.
 */
final class DecisionLatency {
    private static final DomainId DOMAIN = new DomainId("bench");
    private static final ServiceId SERVICE = new ServiceId("chat");
    private static final TopicCatalogue CATALOGUE = TopicCatalogue.standard();
    private static final int WARM_UP = 100;
    private static final int MEASURED = 500;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Deque<Object> inbox = new ArrayDeque<>();
    private long sequence;

    BenchMain.Result measure() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        for (String guarantee : List.of("at_least_once", "exactly_once_v2")) {
            System.out.println("measuring " + guarantee + ": " + MEASURED + " decisions after " + WARM_UP);
            List<Double> decided = new ArrayList<>();
            List<Double> bare = new ArrayList<>();
            run(guarantee, decided, bare);
            for (double share : new double[] {0.5, 0.99}) {
                String name = "%s_p%.0f_ms".formatted(guarantee, 100 * share);
                metrics.put(name, quantile(decided, share));
                reference.put(name, quantile(bare, share));
                ratio.put(name, quantile(decided, share) / quantile(bare, share));
            }
        }
        return new BenchMain.Result(metrics, reference, ratio);
    }

    private void run(String guarantee, List<Double> decided, List<Double> bare) {
        inbox.clear();
        try (Stack stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {})) {
            KafkaSettings kafka = KafkaSettings.of(
                    "bench",
                    Settings.of(
                            CommonKeys.ALL,
                            "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                            "schema.registry.url=" + stack.confluentUrl(),
                            "kafka.producer.linger.ms=0"));
            try (Admin admin = Admin.create(kafka.admin())) {
                new TopicAdmin(admin, CATALOGUE).create(1, (short) 1);
            }
            new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), CATALOGUE).register();
            startScheduler(stack, guarantee);
            var deadLetters = new DeadLetters(letter -> {}, CATALOGUE, "bench", new SimpleMeterRegistry());
            try (RecordWriter writer = RecordWriter.open(kafka, CATALOGUE, "/lendstream/bench");
                    RecordReader reader = RecordReader.open(kafka, CATALOGUE, deadLetters, Duration.ofMinutes(5))) {
                reader.handing(TopicCatalogue.DECISIONS, got -> got.value().ifPresent(inbox::add))
                        .handing(TopicCatalogue.BATCHING_DECISIONS, got -> {})
                        .handing(
                                TopicCatalogue.REQUEST_RATES, got -> got.value().ifPresent(inbox::add))
                        .start(Map.of());
                prepare(writer, reader);
                for (int i = 0; i < WARM_UP + MEASURED; i++) {
                    double own = bare(writer, reader);
                    double decision = decision(writer, reader);
                    if (i >= WARM_UP) {
                        bare.add(own);
                        decided.add(decision);
                    }
                }
            }
        }
    }

    private static void startScheduler(Stack stack, String guarantee) {
        int port = Ports.free();
        var child = stack.start(ServiceKind.SCHEDULER
                .child(stack.installation())
                .withArguments(
                        "--bootstrap-server", stack.bootstrapServers(),
                        "--registry", stack.confluentUrl().toString(),
                        "--set", "health.port=" + port,
                        "--set", "kafka.processing.guarantee=" + guarantee,
                        "--set", "kafka.state.dir=" + stack.dataDirectory().resolve("state")));
        stack.awaitReady(
                child,
                Readiness.http(URI.create("http://127.0.0.1:" + port + "/health/ready")),
                Duration.ofSeconds(60));
    }

    /** One inference node; a service that is given a second replica, which is then warm. */
    private void prepare(RecordWriter writer, RecordReader reader) {
        var layout = new SimulatedNodes.Layout(DOMAIN, 1, 4, 0, 1);
        new SimulatedNodes(layout, now(), Duration.ofMinutes(1), "bench")
                .inventory()
                .forEach(
                        node -> writer.write(TopicCatalogue.NODES, node.nodeId().value(), node));
        writer.write(
                TopicCatalogue.SERVICES,
                SERVICE.value(),
                new InferenceService(
                        SERVICE,
                        DOMAIN,
                        now(),
                        List.of(),
                        Duration.ofMillis(500),
                        10,
                        Optional.empty(),
                        1,
                        Duration.ofSeconds(30)));
        writer.flush();
        bind(writer, await(reader, Decision.class));
        rate(writer, 15);
        bind(writer, decision(reader));
        rate(writer, 1);
    }

    private static void bind(RecordWriter writer, Decision decision) {
        writer.write(
                TopicCatalogue.ACTUATION_REPORTS,
                DOMAIN.value(),
                new ActuationReport(
                        DOMAIN,
                        decision.id(),
                        "bench",
                        now(),
                        Outcome.BOUND,
                        decision.action().gpus(),
                        Optional.of(new Tenant.Service(SERVICE)),
                        Timings.NONE,
                        ""));
        writer.flush();
    }

    /** A record that calls for the second, warm replica, and the decision to wake it; then back to one. */
    private double decision(RecordWriter writer, RecordReader reader) {
        inbox.clear();
        long began = System.nanoTime();
        rate(writer, 15);
        Decision decision = decision(reader);
        double millis = (System.nanoTime() - began) / 1e6;
        if (!(decision.action() instanceof Action.Serve)) {
            throw new IllegalStateException("expected the warm replica to be put to work, but got " + decision);
        }
        rate(writer, 1);
        return millis;
    }

    private Decision decision(RecordReader reader) {
        while (true) {
            Decision decision = await(reader, Decision.class);
            if (decision.action() instanceof Action.Serve) {
                return decision;
            }
        }
    }

    /** A record written and read, without anybody in between. */
    private double bare(RecordWriter writer, RecordReader reader) {
        inbox.clear();
        long mine = sequence + 1;
        long began = System.nanoTime();
        rate(writer, 1);
        while (await(reader, RequestRate.class).sequence() != mine) {
            // an earlier one
        }
        return (System.nanoTime() - began) / 1e6;
    }

    private void rate(RecordWriter writer, long perSecond) {
        sequence++;
        Instant end = now();
        writer.write(
                TopicCatalogue.REQUEST_RATES,
                SERVICE.value(),
                new RequestRate(
                        SERVICE,
                        DOMAIN,
                        "bench",
                        "bench",
                        sequence,
                        end.minusSeconds(15),
                        end,
                        perSecond * 15,
                        perSecond * 15,
                        0,
                        0,
                        Optional.empty(),
                        Optional.empty(),
                        List.of()));
        writer.flush();
    }

    private <T> T await(RecordReader reader, Class<T> type) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            while (!inbox.isEmpty()) {
                Object record = inbox.removeFirst();
                if (type.isInstance(record)) {
                    return type.cast(record);
                }
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        "no %s within %d s".formatted(type.getSimpleName(), PATIENCE.toSeconds()));
            }
            reader.poll(Duration.ofMillis(50));
        }
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    private static double quantile(List<Double> values, double share) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.get((int) Math.min(sorted.size() - 1, Math.floor(share * sorted.size())));
    }
}
