package io.lendstream.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Jvm;
import io.lendstream.stack.Ports;
import io.lendstream.stack.Readiness;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;

/** A forecaster process, a broker, and the request rates of many services with one source each. */
final class ForecasterLoad implements AutoCloseable {
    static final int WINDOWS_PER_STEP = 4;

    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final DomainId DOMAIN = new DomainId("bench");
    private static final int TASKS = 2;
    private static final Duration STEP = Duration.ofMinutes(1);
    private static final Duration WINDOW = STEP.dividedBy(WINDOWS_PER_STEP);
    /** Most of a step in one window: no source completes the step, so event time has to close it. */
    private static final Duration LONG_WINDOW = Duration.ofSeconds(45);
    /** Longer than three long windows and the allowed disorder. */
    private static final Duration CLOSES_ALL = Duration.ofMinutes(5);

    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int HEAP_MEGABYTES = 1536;

    private final Stack stack;
    private final KafkaSettings kafka;
    private final RecordWriter writer;
    private final List<ServiceId> services;
    private final List<ServiceId> movers;
    private final KafkaConsumer<byte[], byte[]> forecasts;
    private final List<String> settings;
    private final URI rest;
    private Instant at = Instant.now().minus(Duration.ofDays(2)).truncatedTo(ChronoUnit.HOURS);
    private long sequence;
    private int windows;

    ForecasterLoad(int services, String delivery, int checkpointSeconds) {
        stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {});
        int port = Ports.free();
        rest = URI.create("http://127.0.0.1:" + port);
        settings = List.of(
                "health.port=" + Ports.free(),
                "flink.rest.bind-port=" + port,
                "forecaster.parallelism=" + TASKS,
                "forecaster.delivery=" + delivery,
                "forecaster.checkpoint-interval=" + checkpointSeconds + "s");
        kafka = KafkaSettings.of(
                "bench",
                Settings.of(
                        CommonKeys.ALL,
                        "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                        "schema.registry.url=" + stack.confluentUrl()));
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, TOPICS).create(TASKS, 1);
        }
        new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), TOPICS).register();
        writer = RecordWriter.open(kafka, TOPICS, "/lendstream/bench");
        this.services = IntStream.range(0, services)
                .mapToObj(number -> new ServiceId("service-%05d".formatted(number)))
                .toList();
        movers = IntStream.range(0, TASKS).mapToObj(ForecasterLoad::mover).toList();
        Map<String, Object> consumer = new HashMap<>(kafka.consumer());
        consumer.put("isolation.level", "read_committed");
        forecasts = new KafkaConsumer<>(consumer);
        forecasts.assign(IntStream.range(0, TASKS)
                .mapToObj(partition -> new TopicPartition(TOPICS.name(TopicCatalogue.DEMAND_FORECASTS), partition))
                .toList());
        forecasts.seekToBeginning(forecasts.assignment());
    }

    /** A service without an awaited forecast; its records advance event time in a partition. */
    private static ServiceId mover(int partition) {
        return IntStream.iterate(0, number -> number + 1)
                .mapToObj(number -> "mover-" + number)
                .filter(name -> Utils.toPositive(Utils.murmur2(name.getBytes(UTF_8))) % TASKS == partition)
                .map(ServiceId::new)
                .findFirst()
                .orElseThrow();
    }

    /** Writes this many windows of every service before the forecaster starts. */
    void fill(int count) {
        windows = count / WINDOWS_PER_STEP * WINDOWS_PER_STEP;
        for (int window = 0; window < windows; window++) {
            report(services, at, WINDOW);
            at = at.plus(WINDOW);
        }
        writer.flush();
    }

    /**
     * Records per second, from the first answer to the last. The second figure is for the later half, when the JVM
     * has compiled most of its code.
     */
    record Drained(double perSecond, double laterPerSecond) {}

    /** Starts the forecaster and waits until it has answered all windows. */
    Drained drain() {
        var child = stack.start(ServiceKind.FORECASTER
                .child(stack.installation())
                .withJvm(Jvm.thorough(HEAP_MEGABYTES).withWholeHeap())
                .withArguments(arguments()));
        stack.awaitReady(
                child, Readiness.http(URI.create("http://127.0.0.1:" + healthPort() + "/health/ready")), PATIENCE);
        long expected = (long) services.size() * (windows / WINDOWS_PER_STEP);
        long first = 0;
        long half = 0;
        long seen = 0;
        long seenByHalf = 0;
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (seen < expected) {
            seen += poll(deadline).size();
            first = first == 0 && seen > 0 ? System.nanoTime() : first;
            if (half == 0 && seen >= expected / 2) {
                half = System.nanoTime();
                seenByHalf = seen;
            }
        }
        long last = System.nanoTime();
        return new Drained(
                services.size() * (double) (windows - WINDOWS_PER_STEP + 1) / ((last - first) / 1e9),
                (expected - seenByHalf) * (double) WINDOWS_PER_STEP / ((last - half) / 1e9));
    }

    private List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of(
                "--bootstrap-server",
                stack.bootstrapServers(),
                "--registry",
                stack.confluentUrl().toString()));
        for (String setting : settings) {
            arguments.addAll(List.of("--set", setting));
        }
        return arguments;
    }

    private String healthPort() {
        return settings.get(0).substring("health.port=".length());
    }

    private List<ConsumerRecord<byte[], byte[]>> poll(long deadline) {
        if (System.nanoTime() - deadline > 0) {
            throw new IllegalStateException("no further forecasts within " + PATIENCE);
        }
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        forecasts.poll(Duration.ofMillis(5)).forEach(records::add);
        return records;
    }

    /** Flink's checkpoints since the topic was drained: the bytes of one, and the longest of three. */
    record Checkpoints(double bytes, double longestMillis) {}

    Checkpoints checkpoints() {
        long drained = System.currentTimeMillis();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
            List<JsonNode> since = new ArrayList<>();
            String job = get("/jobs/overview").at("/jobs/0/jid").asText();
            get("/jobs/" + job + "/checkpoints").get("history").forEach(checkpoint -> {
                if (checkpoint.get("status").asText().equals("COMPLETED")
                        && checkpoint.get("trigger_timestamp").asLong() >= drained) {
                    since.add(checkpoint);
                }
            });
            if (since.size() >= 3) {
                return new Checkpoints(
                        since.get(0).get("state_size").asDouble(),
                        since.stream()
                                .mapToDouble(
                                        each -> each.get("end_to_end_duration").asDouble())
                                .max()
                                .orElseThrow());
            }
        }
        throw new IllegalStateException("no three checkpoints within " + PATIENCE);
    }

    private JsonNode get(String path) {
        try (InputStream answer = rest.resolve(path).toURL().openStream()) {
            return new ObjectMapper().readTree(answer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Milliseconds from the record that advances event time past a step of every service to each forecast, as read.
     * Each round adds a step after the round before is complete.
     */
    List<Double> delays(int rounds) {
        List<Double> delays = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            at = at.plus(CLOSES_ALL.multipliedBy(2));
            report(services, at, LONG_WINDOW);
            writer.flush();
            awaitForecasts(at, 0, new ArrayList<>());
            long began = System.nanoTime();
            report(movers, at.plus(CLOSES_ALL), WINDOW);
            writer.flush();
            awaitForecasts(at.plus(STEP), began, delays);
        }
        return delays;
    }

    /** Waits until every service has a forecast with this issue time. */
    private void awaitForecasts(Instant issued, long began, List<Double> delays) {
        byte[] end = ("/" + issued.toEpochMilli()).getBytes(UTF_8);
        int left = services.size();
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (left > 0) {
            for (ConsumerRecord<byte[], byte[]> record : poll(deadline)) {
                if (isAt(record, end)) {
                    delays.add((System.nanoTime() - began) / 1e6);
                    left--;
                }
            }
        }
    }

    /** The issue time, from the end of the record's id. */
    private static boolean isAt(ConsumerRecord<byte[], byte[]> record, byte[] end) {
        String id = new String(record.headers().lastHeader("ce_id").value(), UTF_8);
        return id.startsWith("service-") && id.endsWith(new String(end, UTF_8));
    }

    private void report(List<ServiceId> about, Instant start, Duration window) {
        sequence++;
        for (ServiceId service : about) {
            var rate = new RequestRate(
                    service,
                    DOMAIN,
                    "gateway",
                    "boot-1",
                    sequence,
                    start,
                    start.plus(window),
                    RequestRate.Requests.answered(10 * window.toSeconds()),
                    RequestRate.Latency.NOT_MEASURED,
                    List.of(),
                    List.of());
            writer.write(TopicCatalogue.REQUEST_RATES, service.value(), rate);
        }
    }

    @Override
    public void close() {
        forecasts.close();
        writer.close();
        stack.close();
    }
}
