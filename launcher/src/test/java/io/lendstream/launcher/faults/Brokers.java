package io.lendstream.launcher.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.stack.Installation;
import io.lendstream.stack.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Uuid;

/**
 * A cluster of brokers, a process each, that can be killed, stopped and started one by one. Each has a second entrance behind a
 * proxy; who comes by it stays behind it, for the broker says so in what it tells of the cluster.
 */
final class Brokers implements AutoCloseable {
    /** A port that is free may be taken by another process before a broker listens on it. */
    private static final int MOST_ATTEMPTS = 3;

    private final Installation installation;
    private final Path directory;
    private final String clusterId = Uuid.randomUuid().toString();
    private final Map<String, String> properties;
    private final List<Member> members = new ArrayList<>();
    private final Map<Integer, Instance> running = new TreeMap<>();

    private record Member(int id, int port, int controllerPort, int hiddenPort, Proxy proxy) {}

    private Brokers(Installation installation, Path directory, Map<String, String> properties) {
        this.installation = installation;
        this.directory = directory;
        this.properties = properties;
    }

    /** Starts so many brokers, which keep a copy each of everything, and need all but one. */
    static Brokers start(Installation installation, Path directory, int count, Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        String copies = Integer.toString(count);
        String needed = Integer.toString(Math.max(1, count - 1));
        for (String topics : List.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
            all.put(topics + ".replication.factor", copies);
        }
        all.put("transaction.state.log.min.isr", needed);
        all.put("share.coordinator.state.topic.min.isr", needed);
        all.put("default.replication.factor", copies);
        all.put("min.insync.replicas", needed);
        all.put("broker.session.timeout.ms", "3000");
        all.put("broker.heartbeat.interval.ms", "500");
        for (int attempt = 1; ; attempt++) {
            Brokers brokers =
                    new Brokers(installation, attempt == 1 ? directory : directory.resolve("try-" + attempt), all);
            for (int id = 1; id <= count; id++) {
                int hidden = Ports.free();
                brokers.members.add(new Member(id, Ports.free(), Ports.free(), hidden, Proxy.to(hidden)));
            }
            brokers.members.forEach(member -> brokers.running.put(member.id(), brokers.launch(member, 1)));
            brokers.running.values().forEach(Brokers::awaitServingOrEnd);
            boolean isPortTaken = brokers.running.values().stream()
                    .anyMatch(broker -> broker.printed().contains("cannot be listened on"));
            if (!isPortTaken || attempt == MOST_ATTEMPTS) {
                brokers.running.values().forEach(Brokers::awaitServing);
                return brokers;
            }
            brokers.close();
        }
    }

    private static void awaitServingOrEnd(Instance broker) {
        await().atMost(Site.PATIENCE)
                .until(() -> !broker.isAlive() || broker.printed().contains("READY "));
    }

    private Instance launch(Member member, int time) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> all = new TreeMap<>(properties);
        all.put(
                "controller.quorum.voters",
                members.stream()
                        .map(each -> each.id() + "@127.0.0.1:" + each.controllerPort())
                        .collect(Collectors.joining(",")));
        all.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,HIDDEN:PLAINTEXT");
        all.put(
                "listeners",
                "PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d,HIDDEN://127.0.0.1:%d"
                        .formatted(member.port(), member.controllerPort(), member.hiddenPort()));
        all.put(
                "advertised.listeners",
                "PLAINTEXT://127.0.0.1:%d,HIDDEN://127.0.0.1:%d"
                        .formatted(member.port(), member.proxy().port()));
        List<String> arguments = new ArrayList<>(List.of(
                "--data-dir", directory.resolve("broker-" + member.id()).toString(),
                "--port", Integer.toString(member.port()),
                "--controller-port", Integer.toString(member.controllerPort()),
                "--node-id", Integer.toString(member.id()),
                "--cluster-id", clusterId));
        all.forEach((key, value) -> arguments.addAll(List.of("--set", key + "=" + value)));
        return Instance.start(
                installation.classPath("embedded"),
                "io.lendstream.embedded.BrokerMain",
                "broker-%d-%d".formatted(member.id(), time),
                directory,
                arguments,
                Map.of());
    }

    private static void awaitServing(Instance broker) {
        await().atMost(Site.PATIENCE).until(() -> {
            assertThat(broker.isAlive()).as(broker::printed).isTrue();
            return broker.printed().contains("READY ");
        });
    }

    String bootstrapServers() {
        return members.stream().map(member -> "127.0.0.1:" + member.port()).collect(Collectors.joining(","));
    }

    /** The first broker's entrance behind its proxy. */
    String hiddenBootstrapServers() {
        return "127.0.0.1:" + members.get(0).proxy().port();
    }

    Proxy proxy() {
        return members.get(0).proxy();
    }

    int count() {
        return members.size();
    }

    /** The broker that leads a topic's first partition. */
    int leaderOf(String topic) {
        return describe(topic).partitions().get(0).leader().id();
    }

    /** Waits until every broker has all of a topic's first partition. */
    void awaitInSync(String topic) {
        await().atMost(Site.PATIENCE)
                .ignoreExceptions()
                .until(() -> describe(topic).partitions().get(0).isr().size() == count());
    }

    private TopicDescription describe(String topic) {
        Map<String, Object> admin = Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers(),
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
                "3000");
        try (Admin client = Admin.create(admin)) {
            return client.describeTopics(List.of(topic))
                    .topicNameValues()
                    .get(topic)
                    .get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    Instance broker(int id) {
        return running.get(id);
    }

    /** Starts one again that was killed, with what it had on its disk. */
    void restart(int id, int time) {
        Instance again = launch(members.get(id - 1), time);
        running.put(id, again);
        awaitServing(again);
    }

    @Override
    public void close() {
        running.values().forEach(Instance::kill);
        members.forEach(member -> member.proxy().close());
    }
}
