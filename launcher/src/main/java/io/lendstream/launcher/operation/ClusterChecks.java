package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.ServiceName;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.operation.Finding.Level;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.schemas.topics.TopicState;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/** Checks a cluster. Each check gives a finding, even if it cannot be made. */
final class ClusterChecks {
    private static final Duration RATES_SILENT = Duration.ofSeconds(60);
    private static final Duration FORECASTS_SILENT = Duration.ofMinutes(15);

    private static final Sender DEMAND = new Sender(
            "demand", "no request rate has been written yet", TopicCatalogue.REQUEST_RATES, RATES_SILENT, Level.WARN);
    private static final Sender FORECASTER = new Sender(
            "forecaster",
            "no forecast has been written yet",
            TopicCatalogue.DEMAND_FORECASTS,
            FORECASTS_SILENT,
            Level.WARN);

    private final Cluster cluster;
    private final TopicScan reading;
    private final String schedulerGroup;
    private final Consumer<Finding> to;
    /** Whether virtual time does not advance, so that services wait for it. */
    private boolean isPaused;

    /** @param to receives each finding at once */
    ClusterChecks(Cluster cluster, TopicScan reading, String schedulerGroup, Consumer<Finding> to) {
        this.cluster = cluster;
        this.reading = reading;
        this.schedulerGroup = schedulerGroup;
        this.to = to;
    }

    void run() {
        boolean registry = registry();
        try {
            Connection.topicsThere(cluster.kafka(), cluster.patience());
        } catch (UnreachableException | SettingsException e) {
            to.accept(Finding.fail("broker", message(e), "the other checks were skipped"));
            return;
        }
        Map<String, Object> properties = cluster.kafka().admin();
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int)
                cluster.patience().toMillis());
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, (int)
                cluster.patience().toMillis());
        try (Admin admin = Admin.create(properties)) {
            int brokers = answer(admin.describeCluster().nodes()).size();
            check("broker", () -> broker(admin, brokers));
            check("clock", () -> clock(admin));
            Optional<List<TopicState>> described = topics(admin);
            if (described.isEmpty()) {
                return;
            }
            List<TopicState> topics = described.get();
            Finding there = Diagnosis.topics(topics);
            to.accept(there);
            check("replication", () -> Diagnosis.replication(brokers, topics, minInsync(admin, topics)));
            if (there.isFailure() || !registry) {
                to.accept(Finding.warn("services", "not checked", "correct the failures above first"));
                return;
            }
            services(admin);
        }
    }

    /** The topics, if the principal may describe all of them. */
    private Optional<List<TopicState>> topics(Admin admin) {
        try {
            return Optional.of(new TopicAdmin(admin, cluster.topics()).describe());
        } catch (KafkaException e) {
            to.accept(Finding.warn(
                    "topics",
                    "cannot be described: " + message(e),
                    "use a principal that may describe all of them, such as the operator of deploy/acl; the services"
                            + " were not checked"));
            return Optional.empty();
        }
    }

    /** Whether the registry answers. */
    private boolean registry() {
        try {
            Connection.checkRegistry(cluster.kafka(), cluster.patience());
            var client =
                    new RegistryClient(RegistrySettings.from(cluster.kafka().serdes()));
            int subjects = client.subjects().size();
            List<SubjectReport> ours = new SchemaSet(client, cluster.topics()).check();
            to.accept(Finding.ok(
                    "registry",
                    "%s answers with %d subjects".formatted(cluster.kafka().registry(), subjects)));
            to.accept(Diagnosis.schemas(ours));
            return true;
        } catch (UnreachableException | SettingsException | RegistryException e) {
            to.accept(Finding.fail("registry", message(e), ""));
            return false;
        }
    }

    private Finding broker(Admin admin, int brokers) {
        String version = Optional.ofNullable(answer(admin.describeFeatures().featureMetadata())
                        .finalizedFeatures()
                        .get("metadata.version"))
                .map(range -> "metadata.version " + range.maxVersionLevel())
                .orElse("no KRaft metadata version");
        return Finding.ok(
                "broker",
                "%s answers: cluster %s, %s, %s"
                        .formatted(
                                cluster.kafka().bootstrapServers(),
                                answer(admin.describeCluster().clusterId()),
                                Reason.counted(brokers, "broker"),
                                version));
    }

    /** Compares clocks by a record in a new topic, stamped by the broker. */
    private Finding clock(Admin admin) {
        String topic = cluster.topics().prefix() + "doctor-" + UUID.randomUUID();
        NewTopic stamped = new NewTopic(topic, Optional.of(1), Optional.empty())
                .configs(Map.of("message.timestamp.type", "LogAppendTime"));
        answer(admin.createTopics(List.of(stamped)).all());
        try (var producer = new KafkaProducer<byte[], byte[]>(cluster.kafka().producer())) {
            answered(producer.send(new ProducerRecord<>(topic, new byte[0]))); // the first send is slower
            Instant before = Instant.now();
            RecordMetadata written = answered(producer.send(new ProducerRecord<>(topic, new byte[0])));
            Instant after = Instant.now();
            Instant stamp = Instant.ofEpochMilli(written.timestamp());
            Instant middle = before.plus(Duration.between(before, after).dividedBy(2));
            return Diagnosis.clock(
                    Duration.between(middle, stamp), cluster.settings().get(CommonKeys.MAX_CLOCK_SKEW));
        } finally {
            answer(admin.deleteTopics(List.of(topic)).all());
        }
    }

    private Finding twins() {
        var inventories = new ArrayList<Node>();
        reading.values(TopicCatalogue.NODES, inventories::add);
        return Diagnosis.twins(inventories);
    }

    private Finding inventories() {
        Map<String, Node> newest = new TreeMap<>();
        reading.all(
                TopicCatalogue.NODES,
                received -> received.value()
                        .ifPresentOrElse(
                                node -> newest.put(received.key(), node), () -> newest.remove(received.key())));
        return Diagnosis.inventories(newest.values());
    }

    private Function<String, Integer> minInsync(Admin admin, List<TopicState> topics) {
        List<ConfigResource> asked = topics.stream()
                .filter(topic -> topic.presence() != TopicState.Presence.MISSING)
                .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic.name()))
                .toList();
        Map<String, Integer> found = new HashMap<>();
        answer(admin.describeConfigs(asked).all())
                .forEach((topic, config) -> found.put(
                        topic.name(),
                        Integer.parseInt(config.get("min.insync.replicas").value())));
        return topic -> found.getOrDefault(topic, 1);
    }

    /**
     * The writer of a topic.
     *
     * @param none a sentence for the time before its first record
     * @param limit the longest silence that is fine
     * @param silent the severity of a longer one
     */
    private record Sender(String name, String none, Topic<?> topic, Duration limit, Level silent) {}

    private void heard(Admin admin, Instant now, Sender sender, String wayOut) {
        check(
                sender.name,
                () -> Diagnosis.heard(
                        sender.name,
                        sender.none,
                        newest(admin, sender.topic),
                        now,
                        sender.limit,
                        isPaused ? Level.SILENT : sender.silent,
                        wayOut));
    }

    private void services(Admin admin) {
        boolean virtual = cluster.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL;
        Instant now = Instant.now();
        if (virtual) {
            check("time", () -> time(admin, now));
        }
        check("scheduler", () -> scheduler(admin));
        var refusing = new SchedulerChecks(cluster, reading, now);
        check("domains", refusing::domains);
        check("dead-letters", refusing::deadLetters);
        check("commands", this::commands);
        check("trust", refusing::trust);
        check("agents", () -> agents(admin, now));
        check("nodes", this::twins);
        check("inventory", this::inventories);
        check("users", refusing::users);
        heard(admin, now, DEMAND, "let the serving side write request-rates; without them nothing is lent");
        heard(
                admin,
                now,
                FORECASTER,
                "start 'lendstream forecaster', or run without forecasts: then only the current load counts");
        var actuators = new ActuatorChecks(reading, virtual, now);
        check("actuators", actuators::decisions);
        check("scopes", actuators::scopes);
        if (!virtual) {
            check("actuator", actuators::alive);
            check("clocks", () -> Diagnosis.clocks(Clocks.ahead(Clocks.read(cluster))));
        }
        var gpus = new GpuChecks(cluster, reading);
        check("gpus", gpus::quarantine);
        check("foreign", gpus::foreign);
        check("intruders", gpus::intruders);
        check("moved", gpus::moved);
        check("kinds", gpus::kinds);
        check("queues", gpus::queues);
    }

    private Finding agents(Admin admin, Instant now) {
        Optional<Instant> newest = newest(admin, TopicCatalogue.GPU_TELEMETRY);
        var declared = new ArrayList<Instant>();
        if (newest.isEmpty()) {
            reading.all(TopicCatalogue.NODES, received -> declared.add(received.written()));
        }
        return Diagnosis.agents(newest, declared, now, isPaused ? Level.SILENT : Level.FAIL);
    }

    private Finding time(Admin admin, Instant now) {
        var hasBegun = new AtomicBoolean();
        reading.values(
                TopicCatalogue.PROGRESS,
                progress -> hasBegun.set(hasBegun.get() || progress.isOf(ServiceName.ENVIRONMENT)),
                hasBegun::get);
        Finding time = Diagnosis.virtualTime(hasBegun.get(), newest(admin, TopicCatalogue.PROGRESS), now);
        isPaused = !time.isOk();
        return time;
    }

    private Finding commands() {
        var search = new CommandSearch();
        reading.all(TopicCatalogue.CONTROL, search::take);
        var standing = new StandingCommands();
        try (LogReader log = new LogReader(reading, cluster.topics())) {
            log.accepted(search).forEach(event -> standing.take(event, cluster.topics()));
        }
        return standing.finding();
    }

    private Finding scheduler(Admin admin) {
        Map<TopicPartition, OffsetAndMetadata> taken =
                answer(admin.listConsumerGroupOffsets(schedulerGroup).partitionsToOffsetAndMetadata());
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        taken.keySet().forEach(partition -> ends.put(partition, OffsetSpec.latest()));
        long lag = 0;
        for (Map.Entry<TopicPartition, ListOffsetsResultInfo> end :
                answer(admin.listOffsets(ends).all()).entrySet()) {
            OffsetAndMetadata offset = taken.get(end.getKey());
            lag += offset == null ? 0 : Math.max(0, end.getValue().offset() - offset.offset());
        }
        return Diagnosis.scheduler(schedulerGroup, members(admin), lag);
    }

    private int members(Admin admin) {
        try {
            ConsumerGroupDescription group =
                    answer(Objects.requireNonNull(admin.describeConsumerGroups(List.of(schedulerGroup))
                            .describedGroups()
                            .get(schedulerGroup)));
            return group.members().size();
        } catch (CheckException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
                return 0;
            }
            throw e;
        }
    }

    /** The time of the newest record of a topic, by its writer's clock. */
    private Optional<Instant> newest(Admin admin, Topic<?> topic) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        answer(admin.describeTopics(cluster.topics().names(topic)).allTopicNames())
                .forEach((name, found) -> found.partitions()
                        .forEach(partition ->
                                asked.put(new TopicPartition(name, partition.partition()), OffsetSpec.maxTimestamp())));
        return answer(admin.listOffsets(asked).all()).values().stream()
                .map(ListOffsetsResultInfo::timestamp)
                .filter(timestamp -> timestamp >= 0)
                .max(Long::compare)
                .map(Instant::ofEpochMilli);
    }

    /** Makes a check; if it cannot be made, that is the finding. */
    private void check(String name, Supplier<Finding> check) {
        try {
            Finding found = check.get();
            to.accept(isPaused ? found.whilePaused() : found);
        } catch (CheckException | KafkaException | UnreachableException e) {
            to.accept(Finding.warn(name, "could not be checked: " + message(e), "check the rights of this principal"));
        }
    }

    private <T> T answer(KafkaFuture<T> question) {
        return answered(question);
    }

    private <T> T answered(Future<T> question) {
        try {
            return question.get(cluster.patience().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new CheckException(e.getCause() == null ? e : e.getCause());
        } catch (TimeoutException e) {
            throw new CheckException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CheckException(e);
        }
    }

    private static String message(Exception e) {
        String line = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    }

    /** A request without an answer. */
    private static final class CheckException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CheckException(Throwable cause) {
            super(cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage(), cause);
        }
    }
}
