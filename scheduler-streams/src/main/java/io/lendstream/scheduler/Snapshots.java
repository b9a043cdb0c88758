package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.SnapshotPart;
import io.lendstream.scheduler.StepEncoder.Output;
import io.lendstream.schemas.snapshot.SnapshotWriting;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes snapshots of the domains of a task. A large state has several parts, and each step writes only one, so that no
 * decision waits for the whole. A task that ends in between leaves a snapshot that readers pass over.
 */
final class Snapshots {
    private static final Logger log = LoggerFactory.getLogger(Snapshots.class);
    private static final String VERSION = Optional.ofNullable(
                    Snapshots.class.getPackage().getImplementationVersion())
            .orElse("development");

    private final SnapshotPace pace;
    private final StepEncoder encoder;
    private final SchedulerMetrics metrics;
    private final Map<DomainId, SnapshotWriting> begun = new HashMap<>();

    Snapshots(SnapshotPace pace, StepEncoder encoder, SchedulerMetrics metrics) {
        this.pace = pace;
        this.encoder = encoder;
        this.metrics = metrics;
    }

    /**
     * The parts to publish after a step: the next one of a snapshot that is being written, or the first of one that is
     * due. If a snapshot is due before the last is complete, the last is completed first.
     *
     * @param arrived when the record that caused the step was appended to its topic, in milliseconds
     */
    List<Output> after(ClusterState before, ClusterState after, Scheduler scheduler, long arrived) {
        DomainId domain = after.domain();
        boolean isDue = pace.isDue(before, after);
        Optional<SnapshotWriting> open = Optional.ofNullable(begun.get(domain));
        if (open.isEmpty() && !isDue) {
            return List.of();
        }
        try {
            List<Output> outputs = new ArrayList<>();
            if (open.isPresent()) {
                write(open.get(), isDue, outputs, arrived);
            }
            if (isDue) {
                write(
                        new SnapshotWriting(after, scheduler.inOffice(after), VERSION, SnapshotWriting.PART_BYTES),
                        false,
                        outputs,
                        arrived);
            }
            return outputs;
        } catch (RuntimeException e) {
            if (InfrastructureFailure.is(e)) {
                throw e;
            }
            begun.remove(domain);
            metrics.snapshotFailed();
            log.warn(
                    "no snapshot of domain {} at event {}: {}. Replays start at an older one",
                    domain,
                    after.eventSequence(),
                    e.toString());
            return List.of();
        }
    }

    /** Writes the next part of a snapshot, or all that are left. */
    private void write(SnapshotWriting writing, boolean isWhole, List<Output> outputs, long arrived) {
        SnapshotPart part;
        do {
            part = writing.next();
            outputs.add(encoded(part, arrived));
        } while (isWhole && writing.hasNext());
        if (writing.hasNext()) {
            begun.put(part.domain(), writing);
        } else {
            begun.remove(part.domain());
        }
    }

    private Output encoded(SnapshotPart part, long arrived) {
        return encoder.encode(
                TopicCatalogue.SNAPSHOTS,
                part.domain().value().getBytes(UTF_8),
                part,
                "%s/%d/%d".formatted(part.domain(), part.position().eventSequence(), part.part()),
                part.position().now(),
                arrived,
                SchedulerTopology.SNAPSHOTS);
    }
}
