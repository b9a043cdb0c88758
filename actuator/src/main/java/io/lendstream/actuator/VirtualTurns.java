package io.lendstream.actuator;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.time.VirtualClock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The time of an accelerated run: which time the environment asks for, whether everything before it was read, and which decisions
 * belong to it.
 */
final class VirtualTurns {
    private static final List<ServiceName> OTHERS = List.of(ServiceName.SCHEDULER, ServiceName.AGENT);

    private final DirectExchange exchange;
    private final Map<String, Long> takeable = new HashMap<>();
    /** Sequence of the last decision that the scheduler has answered with, by domain. */
    private final Map<DomainId, Long> decided = new HashMap<>();

    private VirtualClock clock = new VirtualClock(Optional.empty());

    VirtualTurns(DirectExchange exchange) {
        this.exchange = exchange;
    }

    /** Goes on after the time that was answered last. */
    void restore(Optional<Instant> answered) {
        clock = new VirtualClock(answered);
    }

    void take(Received<Progress> received) {
        received.value().ifPresent(progress -> {
            clock.take(progress);
            if (progress.isOf(ServiceName.SCHEDULER)) {
                progress.positions().forEach((partition, end) -> takeable.merge(partition, end, Math::max));
                decided.merge(progress.domain(), progress.positions().getOrDefault(Progress.DECISIONS, 0L), Math::max);
            }
        });
    }

    /**
     * What the environment asks for, once everything that belongs before it was read.
     *
     * @param heardOf sequence of the last decision of a domain that was read
     */
    Optional<Progress> due(ToLongFunction<DomainId> heardOf) {
        return clock.due().filter(environment -> hasHeardEverything(environment, heardOf));
    }

    private boolean hasHeardEverything(Progress environment, ToLongFunction<DomainId> heardOf) {
        for (ServiceName other : OTHERS) {
            if (!clock.isLevelWith(other)
                    || !exchange.hasRead(
                            clock.of(other).map(Progress::positions).orElse(Map.of()))) {
                return false;
            }
        }
        DomainId domain = environment.domain();
        return heardOf.applyAsLong(domain) >= decided.getOrDefault(domain, 0L)
                && exchange.hasRead(environment.positions());
    }

    /** Whether the scheduler's answers reach to a decision: what it made since belongs to a later time. */
    boolean isTakeable(PendingDecision pending) {
        DecisionId id = pending.decision().id();
        return id.sequence() <= decided.getOrDefault(id.domain(), 0L)
                || pending.origin().offset() < takeable.getOrDefault(pending.partition(), 0L);
    }

    /** When a decision was learned. */
    Instant learned(Decision decision) {
        return clock.answered()
                .filter(answered -> answered.isAfter(decision.at()))
                .orElse(decision.at());
    }

    /** Everything until the time that the environment asked for is done. */
    void answer(Progress due, Optional<Instant> next) {
        clock.answer(due.eventTime());
        exchange.answer(Progress.of(ServiceName.ACTUATOR, due.domain(), due.eventTime(), exchange.written(), next));
    }

    Optional<Instant> answered() {
        return clock.answered();
    }
}
