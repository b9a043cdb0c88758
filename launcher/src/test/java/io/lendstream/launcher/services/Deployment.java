package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
import io.lendstream.launcher.Commands;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.SimulatedCluster;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * A real broker and registry with our topics, and services started beside them as processes of the operating system, which
 * meet nowhere but in Kafka.
 */
final class Deployment implements AutoCloseable {
    static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Pattern HEALTH = Pattern.compile("health and metrics on (http://\\S+)");

    private final Installation installation = Installation.find();
    private final AutoCloseable base;
    private final String bootstrapServers;
    private final String registry;
    private final KafkaSettings kafka;
    private final List<Running> processes = new ArrayList<>();

    /** A service that was started, and what it prints. */
    record Running(Process process, Path log) {
        String printed() {
            try {
                return Files.readString(log);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Its exit status, or -1 where it does not end. */
        int exit() throws InterruptedException {
            return process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS) ? process.exitValue() : -1;
        }

        /** Where it tells how it is; empty until it has said so. */
        Optional<URI> health() {
            Matcher said = HEALTH.matcher(printed());
            return said.find() ? Optional.of(URI.create(said.group(1))) : Optional.empty();
        }

        /** Waits until it is ready; it must have been started with {@code health.port=0}. */
        Running ready() {
            await().atMost(PATIENCE).until(() -> !process.isAlive() || isReady());
            if (!process.isAlive()) {
                throw new AssertionError("it ended with %d: %s".formatted(process.exitValue(), printed()));
            }
            return this;
        }

        private boolean isReady() {
            return health().filter(at -> status(at.resolve("/health/ready")) == 200)
                    .isPresent();
        }
    }

    static int status(URI address) {
        return get(address).statusCode();
    }

    /** What stands at an address. */
    static String text(URI address) {
        return get(address).body();
    }

    private static HttpResponse<String> get(URI address) {
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** With our topics, of so many partitions, and their schemas. */
    Deployment(int partitions) {
        this(Map.of(), Map.of());
        prepared(partitions);
    }

    /**
     * With neither topics nor schemas.
     *
     * @param broker properties of the broker
     * @param client the authentication properties of a client with all rights
     */
    Deployment(Map<String, String> broker, Map<String, String> client) {
        this(StackSettings.defaults().withBroker(broker, client));
    }

    /** With neither topics nor schemas. */
    Deployment(StackSettings settings) {
        this(
                Stack.start(settings, Installation.find(), line -> {}),
                settings.broker().client());
    }

    private Deployment(Stack stack, Map<String, String> client) {
        this(stack, stack.bootstrapServers(), stack.confluentUrl().toString(), client);
    }

    /**
     * On a broker and a registry that run already, with neither topics nor schemas.
     *
     * @param base is closed with it
     */
    Deployment(AutoCloseable base, String bootstrapServers, String registry, Map<String, String> client) {
        this.base = base;
        this.bootstrapServers = bootstrapServers;
        this.registry = registry;
        List<String> settings = new ArrayList<>(
                List.of("kafka.bootstrap.servers=" + bootstrapServers, "schema.registry.url=" + registry));
        client.forEach((name, value) -> settings.add("kafka." + name + "=" + value));
        kafka = KafkaSettings.of("test", Settings.of(CommonKeys.ALL, settings.toArray(String[]::new)));
    }

    /** Creates our topics, of so many partitions, and registers their schemas. */
    Deployment prepared(int partitions) {
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, TOPICS).create(partitions, 1);
        }
        new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), TOPICS).register();
        return this;
    }

    String bootstrapServers() {
        return bootstrapServers;
    }

    String registry() {
        return registry;
    }

    KafkaSettings kafka() {
        return kafka;
    }

    /** The ports of broker and registry. */
    List<Integer> ports() {
        return List.of(
                Integer.parseInt(bootstrapServers.substring(bootstrapServers.lastIndexOf(':') + 1)),
                URI.create(registry).getPort());
    }

    /** Starts a service with these arguments; a scheduler also with the settings of simulated clusters. */
    Running start(ServiceKind service, Path log, List<String> arguments) {
        return start(service, log, arguments, command -> command);
    }

    /** The same by a changed command, such as one that enters a {@link Host}. */
    Running start(ServiceKind service, Path log, List<String> arguments, UnaryOperator<List<String>> changed) {
        var command = new ArrayList<String>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                String.join(
                        File.pathSeparator,
                        installation.classPath(service.module()).stream()
                                .map(Path::toString)
                                .toList()),
                service.mainClass()));
        if (service == ServiceKind.SCHEDULER) {
            SimulatedCluster.SCHEDULER.forEach(setting -> command.addAll(List.of("--set", setting)));
        }
        command.addAll(arguments);
        try {
            var running = new Running(
                    new ProcessBuilder(changed.apply(command))
                            .redirectErrorStream(true)
                            .redirectOutput(log.toFile())
                            .start(),
                    log);
            processes.add(running);
            return running;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a command came to. */
    record Printed(int exit, String out, String err) {}

    /** Runs one of the launcher's commands about this deployment, in this process: to start one takes seconds on a busy machine. */
    Printed command(String... arguments) {
        var out = new StringWriter();
        var err = new StringWriter();
        var exit = new FutureTask<>(() -> Commands.run(about(arguments), new PrintWriter(out), new PrintWriter(err)));
        Thread thread = new Thread(exit, "command");
        thread.setDaemon(true);
        thread.start();
        try {
            return new Printed(exit.get(PATIENCE.toSeconds(), TimeUnit.SECONDS), out.toString(), err.toString());
        } catch (TimeoutException e) {
            throw new AssertionError("%s does not end: %s%s".formatted(List.of(arguments), out, err), e);
        } catch (ExecutionException e) {
            throw new AssertionError(List.of(arguments).toString(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** The same in a process of its own. */
    Printed process(Path directory, String... arguments) {
        var command = new ArrayList<String>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dlogback.configurationFile=logback-launcher.xml",
                "-Dlendstream.home=" + installation.home(),
                "-cp",
                System.getProperty("java.class.path"),
                "io.lendstream.launcher.LendstreamMain"));
        command.addAll(about(arguments));
        Path out = directory.resolve("command.out");
        Path err = directory.resolve("command.err");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("%s does not end: %s".formatted(List.of(arguments), Files.readString(err)));
            }
            return new Printed(process.exitValue(), Files.readString(out), Files.readString(err));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** The arguments of a command about this deployment. */
    private List<String> about(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        int end = all.indexOf("--"); // what follows is not an option
        all.addAll(end < 0 ? all.size() : end, with());
        return all;
    }

    /** What follows where broker and registry are named on the command line. */
    List<String> with(String... arguments) {
        var all = new ArrayList<String>(List.of("--bootstrap-server", bootstrapServers(), "--registry", registry()));
        all.addAll(List.of(arguments));
        return all;
    }

    /** Every readable value of a topic, as it is now. */
    <T> List<T> read(Topic<T> topic) {
        var values = new ArrayList<T>();
        try (RecordReader reader = reader()) {
            reader.handing(topic, received -> received.value().ifPresent(values::add));
            reader.start(Map.of());
            while (!reader.hasCaughtUp()) {
                reader.poll(Duration.ofMillis(100));
            }
        }
        return values;
    }

    /** A reader of the records that are committed. */
    RecordReader reader() {
        return RecordReader.open(
                kafka,
                TOPICS,
                new DeadLetters(letter -> {}, TOPICS, "test", new SimpleMeterRegistry()),
                Duration.ofMinutes(5));
    }

    /** Waits until a domain's history is without fault: while services run, topics are not read at one moment. */
    Verdict awaitCleanHistory(DomainId domain) {
        Verdict[] last = new Verdict[1];
        await().atMost(PATIENCE).untilAsserted(() -> {
            HistoryChecker history = new HistoryChecker(domain);
            read(TopicCatalogue.DOMAIN_EVENTS).forEach(history::take);
            read(TopicCatalogue.ACTUATION_REPORTS).forEach(history::heard);
            last[0] = history.verdict(read(TopicCatalogue.DECISIONS), read(TopicCatalogue.LEASES));
            assertThat(last[0].violations()).isEmpty();
        });
        return last[0];
    }

    /** Writes bytes as they are. */
    void write(Topic<?> topic, String key, byte[] value) {
        try (RecordWriter writer = RecordWriter.open(kafka, TOPICS, "/other")) {
            writer.send(new ProducerRecord<>(TOPICS.name(topic), key.getBytes(UTF_8), value));
            writer.flush();
        }
    }

    /** What lies in a topic's dead letters now. */
    List<ConsumerRecord<byte[], byte[]>> deadLetters(Topic<?> topic) {
        var letters = new ArrayList<ConsumerRecord<byte[], byte[]>>();
        try (var consumer = new KafkaConsumer<byte[], byte[]>(kafka.consumer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(TOPICS.deadLetters(topic)).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                consumer.poll(Duration.ofMillis(100)).forEach(letters::add);
            }
        }
        return letters;
    }

    static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), UTF_8);
    }

    void killServices() {
        processes.forEach(running -> running.process().destroyForcibly());
        processes.clear();
    }

    @Override
    public void close() {
        killServices();
        try {
            base.close();
        } catch (Exception e) { // whatever it is, it says so when it is closed
            throw new IllegalStateException("broker and registry are not closed", e);
        }
    }
}
