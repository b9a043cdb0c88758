package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.BatchingDecision;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.Lease;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/** Encodes the outputs of a step: the log entry, the decisions and the changed leases. */
final class StepEncoder {
    private static final String SOURCE = "/lendstream/scheduler";

    private final OutputWriter writer;

    /** An encoded record and its sink. */
    record Output(Record<byte[], byte[]> record, String sink) {}

    StepEncoder(OutputWriter writer) {
        this.writer = writer;
    }

    /** All records of a step, in publishing order. */
    List<Output> encode(DomainEvent event, Step step, long arrived) {
        DomainId domain = event.domain();
        byte[] key = domain.value().getBytes(UTF_8);
        List<Output> outputs = new ArrayList<>();
        outputs.add(encode(
                TopicCatalogue.DOMAIN_EVENTS,
                key,
                event,
                domain + "/" + event.sequence(),
                event.at(),
                arrived,
                SchedulerTopology.EVENT_LOG));
        step.decisions().forEach(decision -> add(decision, key, arrived, outputs));
        for (GpuId gpu : step.changed().owners()) {
            outputs.add(lease(gpu, event, step, arrived));
        }
        return outputs;
    }

    private void add(Decision decision, byte[] key, long arrived, List<Output> outputs) {
        outputs.add(encode(
                TopicCatalogue.DECISIONS,
                key,
                decision,
                decision.id().toString(),
                decision.at(),
                arrived,
                SchedulerTopology.DECISIONS));
        Optional<Action.Batching> batching = decision.action().asBatching();
        if (batching.isPresent() && !decision.advisory()) {
            outputs.add(encode(
                    TopicCatalogue.BATCHING_DECISIONS,
                    batching.get().service().value().getBytes(UTF_8),
                    BatchingDecision.of(decision, batching.get()),
                    decision.id().toString(),
                    decision.at(),
                    arrived,
                    SchedulerTopology.BATCHING));
        }
    }

    private Output lease(GpuId gpu, DomainEvent event, Step step, long arrived) {
        Optional<Lease> lease = step.state()
                .gpus()
                .get(gpu)
                .map(state -> state.lease(step.state().domain(), step.state().epoch()));
        return encode(
                TopicCatalogue.LEASES,
                gpu.value().getBytes(UTF_8),
                lease.orElse(null),
                gpu + "/" + event.sequence(),
                event.at(),
                arrived,
                SchedulerTopology.LEASES);
    }

    /** Reads an event as it was written to the log. */
    DomainEvent event(byte[] logged) {
        return writer.read(TopicCatalogue.DOMAIN_EVENTS, logged);
    }

    /**
     * Encodes one record.
     *
     * @param value null for a tombstone
     * @param id the record's CloudEvents ID
     * @param timestamp the record's Kafka timestamp, in milliseconds
     */
    <T> Output encode(
            Topic<T> topic, byte[] key, @Nullable T value, String id, Instant at, long timestamp, String sink) {
        CloudEventHeaders headers = new CloudEventHeaders(id, SOURCE, "io.lendstream." + topic.recordName(), at);
        byte[] bytes = value == null ? null : writer.write(topic, value);
        return new Output(new Record<byte[], byte[]>(key, bytes, timestamp, headers.toHeaders()), sink);
    }
}
