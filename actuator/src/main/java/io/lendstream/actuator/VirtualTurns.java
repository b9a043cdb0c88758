package io.lendstream.actuator;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.time.TimeMode;
import io.lendstream.service.time.VirtualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * Turns of an accelerated run. Each time of the virtual-time driver is answered after everything has been read that
 * the scheduler, the agent and the virtual-time driver had written by their last answers. Exactly the decisions among
 * these records are processed, so the result of a run does not depend on the speed of its services.
 */
final class VirtualTurns implements Turns {
    private static final List<ServiceName> OTHERS = List.of(ServiceName.SCHEDULER, ServiceName.AGENT);

    private final DirectTransport transport;
    private final DecisionProcessor processor;
    private final SelfDescription description;
    private final Map<String, Long> takeable = new HashMap<>();
    /** Sequence of the last decision of each domain that the scheduler's answers cover. */
    private final Map<DomainId, Long> decided = new HashMap<>();

    private VirtualClock clock = new VirtualClock(Optional.empty());

    VirtualTurns(DirectTransport transport, DecisionProcessor processor, SelfDescription description) {
        this.transport = transport;
        this.processor = processor;
        this.description = description;
    }

    @Override
    public TimeMode mode() {
        return TimeMode.VIRTUAL;
    }

    @Override
    public void restore(ActuatorState state) {
        clock = new VirtualClock(state.answered());
    }

    @Override
    public void on(RecordReader reader, Executor to) {
        reader.handing(TopicCatalogue.PROGRESS, received -> to.execute(() -> take(received)));
    }

    private void take(Received<Progress> received) {
        received.value().ifPresent(progress -> {
            clock.take(progress);
            if (progress.isOf(ServiceName.SCHEDULER)) {
                progress.positions().forEach((partition, end) -> takeable.merge(partition, end, Math::max));
                decided.merge(progress.domain(), progress.positions().getOrDefault(Progress.DECISIONS, 0L), Math::max);
            }
        });
    }

    /** Decisions are simulated: there is no driver to pass orders to. */
    @Override
    public void resume() {
        Actuation actuation = processor.actuation();
        actuation.resume(actuation.clock(), false);
    }

    @Override
    public Duration patience(Duration most) {
        return most;
    }

    @Override
    public void turn() {
        clock.due().filter(this::hasReadEverything).ifPresent(this::answer);
    }

    /** Whether all records before the requested time have been read. */
    private boolean hasReadEverything(Progress environment) {
        for (ServiceName other : OTHERS) {
            if (!clock.isLevelWith(other)
                    || !transport.hasRead(
                            clock.of(other).map(Progress::positions).orElse(Map.of()))) {
                return false;
            }
        }
        DomainId domain = environment.domain();
        return processor.lastRead(domain) >= decided.getOrDefault(domain, 0L)
                && transport.hasRead(environment.positions());
    }

    private void answer(Progress environment) {
        Instant time = environment.eventTime();
        var reports = new ArrayList<ActuationReport>(processor.take(this::isTakeable, this::learned));
        reports.addAll(processor.actuation().advance(time));
        processor.publish(reports);
        description.dueIfUnusual(time).forEach(transport::publish);
        clock.answer(time);
        transport.answer(Progress.of(
                ServiceName.ACTUATOR,
                environment.domain(),
                time,
                transport.written(),
                processor.actuation().nextEventAt()));
        processor.changed(true);
    }

    /** Whether the scheduler's answers cover a decision: later decisions belong to a later time. */
    private boolean isTakeable(PendingDecision pending) {
        DecisionId id = pending.decision().id();
        return id.sequence() <= decided.getOrDefault(id.domain(), 0L)
                || pending.origin().offset() < takeable.getOrDefault(pending.partition(), 0L);
    }

    /** The time at which a decision counts as received. */
    private Instant learned(Decision decision) {
        return clock.answered()
                .filter(answered -> answered.isAfter(decision.at()))
                .orElse(decision.at());
    }

    @Override
    public Optional<Instant> answered() {
        return clock.answered();
    }

    @Override
    public void close() {
        // Only simulated delays execute decisions.
    }
}
