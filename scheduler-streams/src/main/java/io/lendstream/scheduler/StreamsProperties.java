package io.lendstream.scheduler;

import io.lendstream.service.kafka.LetterBounds;
import io.lendstream.service.settings.Settings;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.LogAndFailExceptionHandler;
import org.apache.kafka.streams.errors.LogAndFailProcessingExceptionHandler;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;

/** The properties of the Streams application: our requirements for correctness and speed, then a site's own. */
final class StreamsProperties {
    /** Room for the state changes of a transaction: an entry has a few hundred bytes. */
    private static final long CACHE_BYTES = 64L << 20;

    private static final int BATCH_BYTES = 128 << 10;

    private static final int ADMIN_PATIENCE_MILLIS = 15_000;

    private StreamsProperties() {}

    static boolean isExactlyOnce(StreamsConfig config) {
        return config.getString(StreamsConfig.PROCESSING_GUARANTEE_CONFIG).equals(StreamsConfig.EXACTLY_ONCE_V2);
    }

    /** The largest record that the scheduler's producer can send. */
    static LetterBounds sendable(StreamsConfig config) {
        return LetterBounds.of(config.getProducerConfigs("any"));
    }

    /** The dead letters that brokers have refused in this run. */
    static RefusedLetters refusedLetters(StreamsConfig config) {
        return config.originals().get(ContinueToDeadLetters.REFUSED_LETTERS) instanceof RefusedLetters refused
                ? refused
                : new RefusedLetters();
    }

    /** The largest record that is decoded, in bytes: the site's limit, as far as the log can hold such a record. */
    static long largestRecord(StreamsConfig config, LetterBounds sendable) {
        Object given = config.originals().get(InputReader.MAX_RECORD_BYTES);
        long most = given instanceof Long bytes ? bytes : Long.MAX_VALUE;
        return InputReader.largest(most, sendable);
    }

    /**
     * Reads a site's properties.
     *
     * @param common properties for every client
     * @param settings with {@code kafka.producer.}, {@code kafka.consumer.} and {@code kafka.admin.} properties
     */
    static Map<String, Object> site(Map<String, Object> common, Settings settings) {
        Map<String, Object> site = new HashMap<>(common);
        settings.under("kafka.producer.").forEach((name, value) -> site.put(StreamsConfig.producerPrefix(name), value));
        settings.under("kafka.consumer.").forEach((name, value) -> site.put(StreamsConfig.consumerPrefix(name), value));
        settings.under("kafka.admin.").forEach((name, value) -> site.put(StreamsConfig.adminClientPrefix(name), value));
        return site;
    }

    /**
     * Builds all properties.
     *
     * @param site the site's Kafka properties: addresses, security, static membership, standbys and others
     */
    static Map<String, Object> of(String applicationId, Map<String, ?> site) {
        Object given = site.get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG);
        String guarantee = given == null ? StreamsConfig.EXACTLY_ONCE_V2 : given.toString();
        boolean exactlyOnce = guarantee.equals(StreamsConfig.EXACTLY_ONCE_V2);
        Map<String, Object> all = new HashMap<>();
        all.put(StreamsConfig.APPLICATION_ID_CONFIG, applicationId);
        all.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
        // Decisions, and all else that others wait for, do not wait for it (CommitPace). Under exactly-once the
        // log does, because larger batches of it compress better.
        all.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, exactlyOnce ? 1_000 : 200);
        all.put(StreamsConfig.POLL_MS_CONFIG, 10);
        // Inputs are interleaved in arrival order: a received record waits for no other topic.
        all.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, StreamsConfig.MAX_TASK_IDLE_MS_DISABLED);
        // A commit sends lingering records, so a decision does not wait for it. In a transaction no reader sees
        // them before.
        all.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), exactlyOnce ? 1_000 : 10);
        // Nothing is compressed here unless the site says so: for each small batch of a commit that takes buffers of
        // 130 KB. The broker compresses the topics of the log (TopicDefinition).
        // The whole task waits while a commit is retried that came too soon after the previous one.
        unlessSaid(site, all, ProducerConfig.RETRY_BACKOFF_MS_CONFIG, 10);
        // A backlog fills small batches at once. A broker that has not finished the previous transaction delays the
        // request by 20 ms, and the next commit with it (ADR 27).
        unlessSaid(site, all, ProducerConfig.BATCH_SIZE_CONFIG, BATCH_BYTES);
        // The forecaster and the actuator may write in transactions, independent of the scheduler's own setting.
        all.put(StreamsConfig.consumerPrefix(ConsumerConfig.ISOLATION_LEVEL_CONFIG), "read_committed");
        addTakeover(all);
        // A broker that hangs without closing its connections is abandoned after this time, not after Kafka's 30 s.
        all.put(StreamsConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000);
        addAdminTimeouts(site, all);
        all.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, exactlyOnce ? CACHE_BYTES : 0);
        addFixed(all);
        all.putAll(site);
        all.put(ContinueToDeadLetters.REFUSED_LETTERS, new RefusedLetters());
        return all;
    }

    private static void addTakeover(Map<String, Object> all) {
        // Another instance keeps a copy of the state. It takes over once this one has been silent for the shortest
        // session timeout that a stock broker allows and its transaction has ended; docs/faults.md has the resulting
        // times.
        all.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 1);
        all.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), 6000);
        all.put(StreamsConfig.consumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), 1500);
        all.put(StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG), 6000);
    }

    private static void addAdminTimeouts(Map<String, ?> site, Map<String, Object> all) {
        // A rebalance waits for Streams' admin client, which retries the same broker until it has new metadata or
        // gives up.
        if (!site.containsKey(AdminClientConfig.METADATA_MAX_AGE_CONFIG)) {
            all.put(StreamsConfig.adminClientPrefix(AdminClientConfig.METADATA_MAX_AGE_CONFIG), 5_000);
        }
        if (!site.containsKey(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG)) {
            all.put(
                    StreamsConfig.adminClientPrefix(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG),
                    Math.max(ADMIN_PATIENCE_MILLIS, requestTimeoutMillis(site)));
        }
    }

    /** Stores, names and handlers that no site has a reason to change. */
    private static void addFixed(Map<String, Object> all) {
        all.put(
                StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
                BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        all.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.NO_OPTIMIZATION);
        all.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
        // Inputs are read as bytes, which cannot fail; the intake decodes them.
        all.put(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG, LogAndFailExceptionHandler.class);
        // Intake and domain send poison to the dead letters themselves; an exception they throw must not be skipped.
        all.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, LogAndFailProcessingExceptionHandler.class);
        all.put(StreamsConfig.PRODUCTION_EXCEPTION_HANDLER_CLASS_CONFIG, ContinueToDeadLetters.class);
    }

    /** A producer property, which a site may also set for all its clients. */
    private static void unlessSaid(Map<String, ?> site, Map<String, Object> all, String name, int value) {
        if (!site.containsKey(name)) {
            all.put(StreamsConfig.producerPrefix(name), value);
        }
    }

    /** How long an admin client waits for one answer: clients reject a shorter limit for all answers. */
    private static int requestTimeoutMillis(Map<String, ?> site) {
        Object given = site.get(StreamsConfig.adminClientPrefix(StreamsConfig.REQUEST_TIMEOUT_MS_CONFIG));
        Object timeout = given == null ? site.get(StreamsConfig.REQUEST_TIMEOUT_MS_CONFIG) : given;
        try {
            return timeout == null ? 0 : Integer.parseInt(timeout.toString());
        } catch (NumberFormatException e) {
            return 0; // Kafka reports the error itself, with more detail
        }
    }
}
