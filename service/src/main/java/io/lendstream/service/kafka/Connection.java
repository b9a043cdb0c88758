package io.lendstream.service.kafka;

import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;

/** Whether what a service needs is there, asked once at its start. */
public final class Connection {
    /** The first try is short, so that a wrong address is seen soon. */
    private static final Duration FIRST_TRY = Duration.ofSeconds(2);

    private static final Duration PAUSE = Duration.ofMillis(500);

    private Connection() {}

    /**
     * Fails unless a broker answers in time, with the topics, and a registry too.
     *
     * @param patience how long each may take
     */
    public static void check(
            KafkaSettings kafka, TopicCatalogue topics, Collection<Topic<?>> needed, Duration patience) {
        Set<String> there = topicsThere(kafka, patience);
        var missing = new TreeSet<String>();
        needed.forEach(topic -> missing.addAll(topics.names(topic)));
        missing.removeAll(there);
        if (!missing.isEmpty()) {
            throw new UnreachableException(
                    "%d of the topics needed are not on %s: %s. Create them with 'lendstream topics create', or correct topic-prefix, or wait: 'lendstream demo' creates them in its first 20 seconds."
                            .formatted(missing.size(), kafka.bootstrapServers(), String.join(", ", missing)),
                    null);
        }
        checkRegistry(kafka, patience);
    }

    /**
     * Waits until a broker answers, with the topics, and a registry too. The wait is logged at once and then every 30
     * seconds.
     *
     * @param patience how long one try may take
     * @param limit how long the wait may take in all; empty for ever, zero for a single try
     * @param stopped waits that long, or until the service must stop; true if it must
     * @param waiting is given the reason after each try that failed
     * @return false if it was stopped
     * @throws UnreachableException after the limit, or at once where waiting cannot help: a host that is not known, a
     *     topic that
     *     is missing
     */
    public static boolean await(
            KafkaSettings kafka,
            TopicCatalogue topics,
            Collection<Topic<?>> needed,
            Duration patience,
            Optional<Duration> limit,
            Predicate<Duration> stopped,
            Consumer<String> waiting) {
        var wait = new BrokerWait(kafka.bootstrapServers());
        long begun = System.nanoTime();
        boolean first = limit.filter(Duration::isZero).isEmpty();
        while (!stopped.test(Duration.ZERO)) {
            try {
                check(kafka, topics, needed, first && FIRST_TRY.compareTo(patience) < 0 ? FIRST_TRY : patience);
                wait.over();
                return true;
            } catch (UnreachableException e) {
                long waited = System.nanoTime() - begun;
                if (!e.mayPass()
                        || limit.filter(most -> waited >= most.toNanos()).isPresent()) {
                    throw e;
                }
                first = false;
                String why = String.valueOf(e.getMessage());
                wait.goesOn(why);
                waiting.accept(why);
                if (stopped.test(PAUSE)) {
                    return false;
                }
            }
        }
        return false;
    }

    /** The names of the topics that are on the brokers; fails unless one answers in time. */
    public static Set<String> topicsThere(KafkaSettings kafka, Duration patience) {
        return ask(kafka, patience, admin -> admin.listTopics().names());
    }

    /** The most partitions that any of some topics has; fails unless a broker answers in time. */
    public static int mostPartitions(KafkaSettings kafka, Set<String> topics, Duration patience) {
        return ask(kafka, patience, admin -> admin.describeTopics(topics).allTopicNames()).values().stream()
                .mapToInt(topic -> topic.partitions().size())
                .max()
                .orElseThrow();
    }

    private static <T> T ask(KafkaSettings kafka, Duration patience, Function<Admin, KafkaFuture<T>> question) {
        var properties = kafka.admin();
        int millis = (int) patience.toMillis();
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, millis);
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
        try (Admin admin = Admin.create(properties)) {
            try {
                return question.apply(admin).get(patience.toMillis(), TimeUnit.MILLISECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw unreachable(kafka, patience, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw unreachable(kafka, patience, e);
            } finally {
                admin.close(Duration.ZERO);
            }
        } catch (KafkaException e) {
            throw notTaken(kafka, e.getCause() == null ? e : e.getCause());
        }
    }

    /** Why no client could be made; Kafka tells its reasons apart by their words alone. */
    private static RuntimeException notTaken(KafkaSettings kafka, Throwable reason) {
        String said = String.valueOf(reason.getMessage());
        String setting = "kafka.%s is %s".formatted(KafkaSettings.BOOTSTRAP_SERVERS, kafka.bootstrapServers());
        if (said.startsWith("No resolvable bootstrap urls")) {
            return new UnreachableException(
                    setting + ", but no host of that name is known. Give the right address with --bootstrap-server.",
                    reason);
        }
        if (said.startsWith("Invalid url") || said.startsWith("Invalid port")) {
            return new SettingsException(
                    setting
                            + ", but must be HOST:PORT, or several between commas. Give the address with"
                            + " --bootstrap-server, such as localhost:9092.",
                    reason);
        }
        return new SettingsException(
                "%s, and Kafka's client does not take its settings: %s. Correct those that start with kafka., or leave them out."
                        .formatted(setting, said),
                reason);
    }

    private static UnreachableException unreachable(KafkaSettings kafka, Duration patience, Exception e) {
        return UnreachableException.silent(
                "kafka.%s is %s, and no broker answered there within %s. Start one ('lendstream demo' brings its own), or give the right address with --bootstrap-server."
                        .formatted(KafkaSettings.BOOTSTRAP_SERVERS, kafka.bootstrapServers(), Units.text(patience)),
                e);
    }

    /** Fails unless a registry answers in time. */
    public static void checkRegistry(KafkaSettings kafka, Duration patience) {
        RegistrySettings settings;
        try {
            settings = RegistrySettings.from(kafka.serdes());
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
        var once = new RegistrySettings(
                settings.urls(),
                settings.authorization(),
                settings.ssl(),
                settings.connectTimeout(),
                settings.readTimeout(),
                0,
                settings.retryWait(),
                settings.longestRetryWait());
        long until = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                new RegistryClient(once).subjects();
                return;
            } catch (RegistryException e) {
                if (System.nanoTime() > until) {
                    throw UnreachableException.silent(
                            "schema.registry.url is %s, and no registry answered there within %s: %s. Start one, or give the right address with --registry; Apicurio's ends with /apis/ccompat/v7."
                                    .formatted(kafka.registry(), Units.text(patience), e.getMessage()),
                            e);
                }
            }
            try {
                Thread.sleep(250);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new UnreachableException("interrupted while waiting for " + kafka.registry(), e);
            }
        }
    }
}
