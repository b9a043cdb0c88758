package io.lendstream.launcher.operation;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.WriteFailedException;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Deletes a job, a service or a queue: writes the record that ends it, waits until the scheduler has taken that record
 * and all GPUs of the object are released, and then removes the declaration. An actuator needs the declaration until it
 * has stopped the object.
 */
public final class ObjectRemoval {
    private static final Duration POLL = Duration.ofMillis(100);

    private final Cluster cluster;
    private final TopicScan reading;
    private final Ending ending;
    private final Event end;
    /** The GPUs of the object, by their leases. */
    private final SortedSet<String> held = new TreeSet<>();

    private boolean isTaken;

    /**
     * What is ended, and how.
     *
     * @param shown the object in messages, such as {@code job bert-1}
     * @param key the key of its declaration
     * @param declarations the topic of its declaration
     * @param ends the topic of the record that ends it
     * @param tenant what holds its GPUs; empty if it holds none itself
     */
    private record Ending(
            String shown, String key, Topic<?> declarations, Topic<?> ends, Optional<Tenant> tenant, Writer writer) {}

    /** Writes the record that ends an object, and returns it. */
    private interface Writer {
        Event write(Optional<RecordWriter> writer, Instant at);
    }

    private ObjectRemoval(Ending ending, Cluster cluster, Consumer<String> progress) {
        this.ending = ending;
        this.cluster = cluster;
        this.reading = new TopicScan(cluster, progress);
        List<Topic<?>> needed =
                new ArrayList<>(List.of(ending.declarations(), TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.LEASES));
        if (!needed.contains(ending.ends())) {
            needed.add(ending.ends());
        }
        Connection.check(cluster.kafka(), cluster.topics(), needed, cluster.patience());
        this.end = ending.writer().write(Optional.empty(), reading.now());
    }

    /**
     * The cancellation of a job.
     *
     * @param cluster with the topics that are written to
     * @param progress receives a line every two seconds while a topic is read
     */
    public static ObjectRemoval of(TrainingJob job, Cluster cluster, Consumer<String> progress) {
        String key = job.job().value();
        Writer writer = (to, at) -> {
            TrainingProgress end = new TrainingProgress(
                    job.job(),
                    job.domain(),
                    at,
                    JobPhase.CANCELLED,
                    0,
                    Optional.empty(),
                    TrainingProgress.Parallelism.NONE,
                    TrainingProgress.StepTiming.NOT_MEASURED,
                    TrainingProgress.GradientStatistics.NOT_MEASURED);
            to.ifPresent(topics -> topics.write(TopicCatalogue.TRAINING_PROGRESS, key, end));
            return end;
        };
        Ending ending = new Ending(
                "job " + key,
                key,
                TopicCatalogue.TRAINING_JOBS,
                TopicCatalogue.TRAINING_PROGRESS,
                Optional.of(new Tenant.Job(job.job())),
                writer);
        return new ObjectRemoval(ending, cluster, progress);
    }

    /** The removal of a service. */
    public static ObjectRemoval of(InferenceService service, Cluster cluster, Consumer<String> progress) {
        String key = service.service().value();
        Writer writer = (to, at) -> {
            InferenceService end = service.removedAt(at);
            to.ifPresent(topics -> topics.write(TopicCatalogue.SERVICES, key, end));
            return end;
        };
        Ending ending = new Ending(
                "service " + key,
                key,
                TopicCatalogue.SERVICES,
                TopicCatalogue.SERVICES,
                Optional.of(new Tenant.Service(service.service())),
                writer);
        return new ObjectRemoval(ending, cluster, progress);
    }

    /** The removal of a queue. */
    public static ObjectRemoval of(ClusterQueue queue, Cluster cluster, Consumer<String> progress) {
        String key = queue.queue().value();
        Writer writer = (to, at) -> {
            ClusterQueue end = queue.removedAt(at);
            to.ifPresent(topics -> topics.write(TopicCatalogue.QUEUES, key, end));
            return end;
        };
        Ending ending =
                new Ending("queue " + key, key, TopicCatalogue.QUEUES, TopicCatalogue.QUEUES, Optional.empty(), writer);
        return new ObjectRemoval(ending, cluster, progress);
    }

    /** The removal of the settings of a domain. */
    public static ObjectRemoval of(DomainSettings settings, Cluster cluster, Consumer<String> progress) {
        String key = settings.domain().value();
        Writer writer = (to, at) -> {
            DomainSettings end = settings.removedAt(at);
            to.ifPresent(topics -> topics.write(TopicCatalogue.DOMAIN_SETTINGS, key, end));
            return end;
        };
        Ending ending = new Ending(
                "settings of domain " + key,
                key,
                TopicCatalogue.DOMAIN_SETTINGS,
                TopicCatalogue.DOMAIN_SETTINGS,
                Optional.empty(),
                writer);
        return new ObjectRemoval(ending, cluster, progress);
    }

    /**
     * Deletes the object.
     *
     * @throws UserError if it still holds GPUs after the time limit, or no scheduler took its end
     */
    public void run(Duration limit) {
        try (RecordReader reader = reading.open();
                RecordWriter writer = RecordWriter.open(cluster.kafka(), cluster.topics(), "/lendstream/command")) {
            reader.handing(
                    TopicCatalogue.DOMAIN_EVENTS, received -> received.value().ifPresent(this::take));
            reader.handing(TopicCatalogue.LEASES, this::take);
            reader.start(reading.ends(reader, List.of(TopicCatalogue.DOMAIN_EVENTS)));
            ending.writer().write(Optional.of(writer), end.at());
            writer.flush();
            await(reader, limit);
            writer.delete(ending.declarations(), ending.key());
            writer.flush();
        } catch (WriteFailedException e) {
            SortedSet<String> targets = new TreeSet<>(List.of(
                    cluster.topics().target(ending.ends()), cluster.topics().target(ending.declarations())));
            throw UserError.failed("%s. Use a principal that may write to %s."
                    .formatted(e.getMessage(), String.join(" and ", targets)));
        }
    }

    private void await(RecordReader reader, Duration limit) {
        long until = System.nanoTime() + limit.toNanos();
        while (!isTaken) {
            if (System.nanoTime() > until) {
                throw UserError.failed(
                        "no scheduler of domain %s took the end of %s within --timeout %s. Check with 'lendstream doctor', and run the command again: the %s is still declared."
                                .formatted(
                                        end.domain(),
                                        ending.shown(),
                                        Units.text(limit),
                                        ending.shown()
                                                .substring(0, ending.shown().indexOf(' '))));
            }
            reader.poll(POLL);
        }
        // The leases that the scheduler wrote until then; it gives an ended object no further GPU.
        Map<String, Long> written = reading.ends(reader, List.of(TopicCatalogue.LEASES));
        while (!reader.hasRead(written) || !held.isEmpty()) {
            if (System.nanoTime() > until) {
                throw UserError.failed(stillHolding(limit));
            }
            reader.poll(POLL);
        }
    }

    private String stillHolding(Duration limit) {
        boolean isService = ending.tenant().flatMap(Tenant::serviceId).isPresent();
        String text =
                "%s is being deleted, but after --timeout %s it still holds %s. %s, and run the command again: its record is still there."
                        .formatted(
                                ending.shown(),
                                Units.text(limit),
                                String.join(", ", held),
                                isService
                                        ? "'lendstream top' shows when its GPUs come back; if decisions are only advice, approve the stop of its replicas ('lendstream explain advice')"
                                        : "'lendstream top' shows when its GPUs come back; if its end is only advice, approve it ('lendstream explain job/%s')"
                                                .formatted(ending.key()));
        return reading.gpuNames().in(text);
    }

    private void take(DomainEvent logged) {
        isTaken |= logged.event().equals(end);
    }

    private void take(Received<Lease> lease) {
        boolean isHeld = ending.tenant().isPresent()
                && lease.value()
                        .flatMap(known -> known.owner().holder())
                        .filter(ending.tenant().get()::equals)
                        .isPresent();
        if (isHeld) {
            held.add(lease.key());
        } else {
            held.remove(lease.key());
        }
    }
}
