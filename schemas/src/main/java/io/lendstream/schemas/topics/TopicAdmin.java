package io.lendstream.schemas.topics;

import io.lendstream.schemas.topics.TopicState.Drift;
import io.lendstream.schemas.topics.TopicState.Presence;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Creates the catalogue's topics in a cluster. Existing topics are compared, and never changed. */
public final class TopicAdmin {
    private static final long PATIENCE_SECONDS = 60;

    private final Admin admin;
    private final TopicCatalogue catalogue;

    public TopicAdmin(Admin admin, TopicCatalogue catalogue) {
        this.admin = admin;
        this.catalogue = catalogue;
    }

    /**
     * Creates missing topics; may be repeated at any time.
     *
     * @param partitions partitions of each new topic; dead letters have one
     * @param replication replicas of each partition; -1 for the cluster's default
     * @return every topic of the catalogue, dead letters last
     */
    public List<TopicState> create(int partitions, int replication) {
        if (partitions < 1) {
            throw new IllegalArgumentException("partitions must be at least 1, but was %d".formatted(partitions));
        }
        if (replication < 1 && replication != -1) {
            throw new IllegalArgumentException(
                    "replication must be at least 1, or -1 for the cluster's default, but was %d"
                            .formatted(replication));
        }
        Set<String> created = new HashSet<>();
        List<TopicDefinition> all = TopicDefinition.all(catalogue);
        Map<String, Found> before = find(all);
        List<TopicDefinition> definitions = alikeTheirBases(all, before);
        List<NewTopic> missing = definitions.stream()
                .filter(definition -> !before.containsKey(definition.name()))
                .map(definition -> newTopic(definition, partitions, replication))
                .toList();
        Map<String, KafkaFuture<Void>> answers = admin.createTopics(missing).values();
        answers.forEach((name, answer) -> {
            try {
                await(answer, "create topic " + name);
                created.add(name);
            } catch (TopicExistsException e) {
                // Another client created the topic first, which is fine.
            }
        });
        Map<String, Found> after = new HashMap<>(before);
        after.putAll(awaitFound(
                definitions.stream().filter(d -> created.contains(d.name())).toList()));
        return definitions.stream()
                .map(definition -> state(
                        definition,
                        Optional.ofNullable(after.get(definition.name())),
                        created.contains(definition.name()) ? Presence.CREATED : Presence.PRESENT,
                        Optional.of(partitions),
                        Optional.of(replication).filter(copies -> copies > 0)))
                .toList();
    }

    /** The current state of every topic of the catalogue, dead letters last. */
    public List<TopicState> describe() {
        List<TopicDefinition> all = TopicDefinition.all(catalogue);
        Map<String, Found> found = find(all);
        List<TopicDefinition> definitions = alikeTheirBases(all, found);
        return definitions.stream()
                .map(definition -> state(
                        definition,
                        Optional.ofNullable(found.get(definition.name())),
                        Presence.PRESENT,
                        Optional.empty(),
                        Optional.empty()))
                .toList();
    }

    /** An intake's topic has as many partitions as its base topic, because tasks are numbered by partition. */
    private static List<TopicDefinition> alikeTheirBases(List<TopicDefinition> all, Map<String, Found> found) {
        return all.stream()
                .map(definition -> definition.alikeBase(
                        base -> Optional.ofNullable(found.get(base)).map(Found::partitions)))
                .toList();
    }

    private record Found(int partitions, int replication, Map<String, String> config) {}

    private static NewTopic newTopic(TopicDefinition definition, int partitions, int replication) {
        Map<String, String> config = new TreeMap<>(definition.config());
        if (replication > 0) {
            config.put("min.insync.replicas", Integer.toString(Math.min(2, replication)));
        }
        Optional<Short> copies = replication < 0 ? Optional.empty() : Optional.of((short) replication);
        return new NewTopic(
                        definition.name(), Optional.of(definition.partitions().orElse(partitions)), copies)
                .configs(config);
    }

    private static TopicState state(
            TopicDefinition definition,
            Optional<Found> found,
            Presence presence,
            Optional<Integer> partitions,
            Optional<Integer> replication) {
        if (found.isEmpty()) {
            return new TopicState(definition.name(), Presence.MISSING, 0, 0, Map.of(), List.of());
        }
        Found actual = found.get();
        List<Drift> drifts = new ArrayList<>();
        definition.partitions().or(() -> partitions).ifPresent(wanted -> {
            if (wanted != actual.partitions) {
                drifts.add(new Drift("partitions", wanted.toString(), Integer.toString(actual.partitions)));
            }
        });
        replication
                .filter(wanted -> wanted != actual.replication)
                .ifPresent(wanted ->
                        drifts.add(new Drift("replication", wanted.toString(), Integer.toString(actual.replication))));
        Map<String, String> config = new TreeMap<>();
        definition.config().forEach((setting, wanted) -> {
            String value = actual.config.getOrDefault(setting, "");
            config.put(setting, value);
            if (!sameSetting(wanted, value)) {
                drifts.add(new Drift(setting, wanted, value));
            }
        });
        return new TopicState(definition.name(), presence, actual.partitions, actual.replication, config, drifts);
    }

    /** Lists are equal in any order: {@code delete,compact} is {@code compact,delete}. */
    private static boolean sameSetting(String wanted, String actual) {
        return Set.of(wanted.split(",", -1)).equals(new HashSet<>(List.of(actual.split(",", -1))));
    }

    /** A new topic may be unknown to the answering broker for a moment. */
    private Map<String, Found> awaitFound(List<TopicDefinition> definitions) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            Map<String, Found> found = find(definitions);
            if (found.size() == definitions.size() || System.nanoTime() - until > 0) {
                return found;
            }
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return found;
            }
        }
    }

    private Map<String, Found> find(List<TopicDefinition> definitions) {
        Map<String, TopicDescription> descriptions = new TreeMap<>();
        List<String> names = definitions.stream().map(TopicDefinition::name).toList();
        admin.describeTopics(names).topicNameValues().forEach((name, answer) -> {
            try {
                descriptions.put(name, await(answer, "describe topic " + name));
            } catch (UnknownTopicOrPartitionException e) {
                // Missing: the result has no entry for it.
            }
        });
        List<ConfigResource> resources = descriptions.keySet().stream()
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        Map<String, Found> found = new TreeMap<>();
        admin.describeConfigs(resources).values().forEach((resource, answer) -> {
            try {
                Config config = await(answer, "read the settings of topic " + resource.name());
                TopicDescription description = descriptions.get(resource.name());
                if (description != null) {
                    found.put(
                            resource.name(),
                            new Found(
                                    description.partitions().size(),
                                    description.partitions().get(0).replicas().size(),
                                    values(config)));
                }
            } catch (UnknownTopicOrPartitionException e) {
                // Deleted, or not yet known to this broker: treated as missing.
            }
        });
        return found;
    }

    private static Map<String, String> values(Config config) {
        Map<String, String> values = new TreeMap<>();
        for (ConfigEntry entry : config.entries()) {
            if (entry.value() != null) {
                values.put(entry.name(), entry.value());
            }
        }
        return values;
    }

    private static <V> V await(KafkaFuture<V> future, String what) {
        try {
            return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (cause instanceof TopicExistsException || cause instanceof UnknownTopicOrPartitionException) {
                throw (KafkaException) cause;
            }
            throw new KafkaException("could not %s: %s".formatted(what, cause.getMessage()), cause);
        } catch (TimeoutException e) {
            throw new KafkaException(
                    "could not %s within %d s; is bootstrap.servers right?".formatted(what, PATIENCE_SECONDS), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KafkaException("interrupted while trying to " + what, e);
        }
    }
}
