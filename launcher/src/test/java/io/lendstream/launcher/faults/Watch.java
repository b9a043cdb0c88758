package io.lendstream.launcher.faults;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Reads a site's decisions as they are committed, and as they are written before that; and who owns what. */
final class Watch implements AutoCloseable {
    private final Map<DecisionId, Long> committedAt = new ConcurrentHashMap<>();
    private final Map<DecisionId, Long> writtenAt = new ConcurrentHashMap<>();
    private final Map<GpuId, Owner> owners = new ConcurrentHashMap<>();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private volatile long newestEpoch;
    private volatile Optional<DecisionId> newestWritten = Optional.empty();
    private volatile boolean closed;

    Watch(Site site) {
        start(
                "committed",
                () -> follow(site, "read_committed", id -> {
                    committedAt.putIfAbsent(id, System.nanoTime());
                    newestEpoch = Math.max(newestEpoch, id.epoch());
                }));
        start(
                "written",
                () -> follow(site, "read_uncommitted", id -> {
                    writtenAt.putIfAbsent(id, System.nanoTime());
                    newestWritten = Optional.of(id);
                }));
        start("leases", () -> {
            try (RecordReader reader = site.reader()) {
                reader.handing(
                        TopicCatalogue.LEASES, received -> received.value().ifPresent(this::owned));
                reader.start(Map.of());
                while (!closed) {
                    reader.poll(Duration.ofMillis(20));
                }
            }
        });
    }

    private void owned(Lease lease) {
        if (lease.domain().equals(Site.DOMAIN)) {
            owners.put(lease.gpuId(), lease.owner());
        }
    }

    private void start(String name, Runnable body) {
        Thread thread = new Thread(body, "watch-" + name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private void follow(Site site, String isolation, Consumer<DecisionId> each) {
        Map<String, Object> properties = new HashMap<>(site.kafka().consumer());
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation);
        properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "20");
        try (var consumer = new KafkaConsumer<byte[], byte[]>(properties)) {
            List<TopicPartition> decisions =
                    List.of(new TopicPartition(site.topics().name(TopicCatalogue.DECISIONS), 0));
            consumer.assign(decisions);
            consumer.seekToBeginning(decisions);
            while (!closed) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(20))) {
                    CloudEventHeaders.from(record.headers())
                            .map(headers -> DecisionId.parse(headers.id()))
                            .filter(id -> id.domain().equals(Site.DOMAIN))
                            .ifPresent(each);
                }
            }
        }
    }

    /** The epoch of the newest decision that could be read as committed. */
    long epoch() {
        return newestEpoch;
    }

    int decisions() {
        return committedAt.size();
    }

    /** When the first decision of a later epoch could be read as committed, by {@link System#nanoTime}. */
    Optional<Long> firstAfter(long epoch) {
        return committedAt.entrySet().stream()
                .filter(decision -> decision.getKey().epoch() > epoch)
                .map(Map.Entry::getValue)
                .min(Long::compare);
    }

    /** The newest decision, if it is written and not committed yet. */
    Optional<DecisionId> uncommitted() {
        return newestWritten.filter(id -> !committedAt.containsKey(id));
    }

    boolean isCommitted(DecisionId id) {
        return committedAt.containsKey(id);
    }

    /** Whether some GPU is on its way from one owner to another. */
    boolean transferInFlight() {
        return owners.values().stream()
                .anyMatch(owner -> owner instanceof Owner.Binding || owner instanceof Owner.Releasing);
    }

    List<GpuId> quarantined() {
        return owners.entrySet().stream()
                .filter(owned -> owned.getValue() instanceof Owner.Quarantined)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    @Override
    public void close() {
        closed = true;
        for (Thread thread : threads) {
            try {
                thread.join(5000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
