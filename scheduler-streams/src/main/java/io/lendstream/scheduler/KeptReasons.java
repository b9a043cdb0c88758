package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.scheduler.StepEncoder.Output;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.EventGist;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps decisions, other than renewals of leases, with the facts that explain them after the log is gone. Weighing the
 * sizes of a job takes about as long as a plan, so this is done for a few decisions of a plan, one with each later step
 * that makes no decision.
 */
final class KeptReasons {
    /** The alternatives that are kept for a decision. */
    static final int MOST_ALTERNATIVES = 5;

    /** The decisions of a plan for whose jobs sizes are weighed. */
    static final int MOST_WEIGHED = 8;

    /** Events that are remembered, as later decisions may rest on them. */
    private static final int MOST_EVENTS = 5_000;

    private static final Logger log = LoggerFactory.getLogger(KeptReasons.class);

    private final StepEncoder encoder;
    private final Map<DomainId, OfDomain> domains = new HashMap<>();

    private record ToWeigh(DecisionId decision, JobId job, ClusterView view) {}

    /** The memory of a domain: the last events apart from samples, the last plans, and the work that is left. */
    private static final class OfDomain {
        private final Map<Long, DomainEvent> events = new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, DomainEvent> eldest) {
                return size() > MOST_EVENTS;
            }
        };
        private final Deque<ToWeigh> toWeigh = new ArrayDeque<>();
        private List<ClusterView> plans = List.of();

        void take(DomainEvent event, ReasonNotes notes) {
            if (event.event().asTelemetry().isEmpty()) {
                events.put(event.sequence(), event);
            }
            if (!notes.plans().isEmpty()) {
                plans = List.copyOf(notes.plans());
                toWeigh.clear();
            }
        }

        Optional<ClusterView> planFor(JobId job) {
            return plans.stream()
                    .filter(view ->
                            view.jobs().stream().anyMatch(known -> known.job().equals(job)))
                    .findFirst();
        }
    }

    KeptReasons(StepEncoder encoder) {
        this.encoder = encoder;
    }

    /**
     * The records to publish after a step.
     *
     * @param arrived when the record that caused the step was appended to its topic, in milliseconds
     */
    List<Output> after(Scheduler scheduler, DomainEvent event, ReasonNotes notes, Step step, long arrived) {
        OfDomain domain = domains.computeIfAbsent(event.domain(), added -> new OfDomain());
        try {
            List<Output> outputs = new ArrayList<>();
            domain.take(event, notes);
            for (Decision decision : step.decisions()) {
                if (decision.action().asRenew().isEmpty()) {
                    outputs.add(encoded(reason(domain, scheduler.policy(), event, notes, decision), event, arrived));
                    plan(domain, decision);
                }
            }
            if (step.decisions().isEmpty() && !domain.toWeigh.isEmpty()) {
                ToWeigh next = domain.toWeigh.remove();
                List<Alternative> sizes = best(scheduler.policy().sizes(next.view(), next.job()), true);
                if (!sizes.isEmpty()) {
                    outputs.add(encoded(
                            new KeptReason(next.decision(), Optional.empty(), sizes, List.of()), event, arrived));
                }
            }
            return outputs;
        } catch (RuntimeException e) {
            if (InfrastructureFailure.is(e)) {
                throw e;
            }
            log.warn("no reasons are kept of event {} of domain {}", event.sequence(), event.domain(), e);
            return List.of();
        }
    }

    private static KeptReason reason(
            OfDomain domain, Policy policy, DomainEvent event, ReasonNotes notes, Decision decision) {
        List<Alternative> losses = notes.takings().stream()
                .filter(taking -> decision.action().asReclaim().isPresent()
                        && taking.victims().containsAll(decision.action().gpus()))
                .findFirst()
                .map(taking -> best(policy.losses(taking.view(), taking.count()), false))
                .orElse(List.of());
        List<KeptInput> inputs = decision.reason().inputs().stream()
                .flatMap(input -> input == event.sequence()
                        ? Optional.of(event).stream()
                        : Optional.ofNullable(domain.events.get(input)).stream())
                .map(KeptReasons::inShort)
                .toList();
        return new KeptReason(decision.id(), Optional.of(decision), losses, inputs);
    }

    private static void plan(OfDomain domain, Decision decision) {
        if (decision.reason().is(ReasonCode.PLAN) && domain.toWeigh.size() < MOST_WEIGHED) {
            decision.action()
                    .jobChange()
                    .ifPresent(change -> domain.planFor(change.job())
                            .ifPresent(view -> domain.toWeigh.add(new ToWeigh(decision.id(), change.job(), view))));
        }
    }

    /** The chosen alternatives and the best others, in their order. */
    private static List<Alternative> best(List<Alternative> all, boolean highestIsBest) {
        Comparator<Alternative> byScore = Comparator.comparingDouble(Alternative::score);
        List<Alternative> kept = all.stream()
                .sorted(Comparator.comparing((Alternative each) -> !each.chosen())
                        .thenComparing(highestIsBest ? byScore.reversed() : byScore))
                .limit(MOST_ALTERNATIVES)
                .toList();
        return all.stream().filter(kept::contains).limit(MOST_ALTERNATIVES).toList();
    }

    private static KeptInput inShort(DomainEvent event) {
        return new KeptInput(
                event.sequence(),
                event.at(),
                EventGist.kind(event.event()),
                event.origin(),
                EventGist.of(event.event()));
    }

    private Output encoded(KeptReason reason, DomainEvent event, long arrived) {
        return encoder.encode(
                TopicCatalogue.REASONS,
                reason.id().domain().value().getBytes(UTF_8),
                reason,
                reason.id() + (reason.decision().isPresent() ? "" : "/alternatives"),
                event.at(),
                arrived,
                SchedulerTopology.REASONS);
    }
}
