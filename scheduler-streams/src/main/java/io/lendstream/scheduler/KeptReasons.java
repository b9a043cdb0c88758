package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.scheduler.Step;
import io.lendstream.scheduler.StepEncoder.Output;
import io.lendstream.scheduler.StepRunner.PreparedStep;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps decisions, other than renewals of leases, with the facts that explain them after the log is gone. They are
 * written a second later, when no decision waits to be committed: no service waits for them, and an instance that
 * ends before loses no more than what the log has for as long as it lasts. Weighing the sizes of a job, or the
 * losses of a reclaim, takes about as long as a plan, so this is done for a few decisions of a plan and for each
 * reclaim as a whole, one with each later step that makes no decision.
 */
final class KeptReasons {
    /** The alternatives that are kept for a decision. */
    static final int MOST_ALTERNATIVES = 5;

    /** The decisions of a plan for whose jobs sizes are weighed. */
    static final int MOST_WEIGHED = 8;

    /** Reclaims of a domain that wait to be weighed; of later ones only the decisions are kept. */
    static final int MOST_TAKINGS = 8;

    /** Loans of a reclaim that are weighed; no more are kept than {@link #MOST_ALTERNATIVES}. */
    static final int MOST_LOSSES = 50;

    /** The events that are kept in short for a decision. A hold may rest on the rates of all services. */
    static final int MOST_INPUTS = 20;

    /** How long the reasons of a decision wait to be written, in milliseconds. */
    static final long WRITTEN_AFTER_MILLIS = 1000;

    /** Decisions whose reasons are written after one step; more would delay the next record. */
    static final int MOST_WITH_A_STEP = 8;

    /** Decisions whose reasons are written at once while no record comes, once a second. */
    static final int MOST_AT_ONCE = 100;

    /** Decisions of a task whose reasons wait; beyond that the oldest are written, whatever waits for it. */
    static final int MOST_UNWRITTEN = 10_000;

    /** A time at which all reasons are written. */
    private static final long ALL = Long.MAX_VALUE;

    /** Events that are remembered for all domains of the task, as later decisions may rest on them. */
    static final int MOST_EVENTS = 20_000;

    /** A plan is remembered so long, in a domain's time, as its last decisions wait for GPUs to become free. */
    private static final Duration PLAN_KEPT = Duration.ofMinutes(10);

    private static final Logger log = LoggerFactory.getLogger(KeptReasons.class);

    private final StepEncoder encoder;
    private final Map<DomainId, OfDomain> domains = new HashMap<>();
    private final EventMemory events;
    private final Deque<Unwritten> unwritten = new ArrayDeque<>();

    /** @param since when the decision was made, by the clock of this machine, in milliseconds */
    private record Unwritten(DomainEvent event, Decision decision, long arrived, long since) {
        /** Also if the clock was set back. */
        boolean isDue(long now) {
            return now < since || now - since >= WRITTEN_AFTER_MILLIS;
        }
    }

    /** @param since when the decision was made, in milliseconds */
    private record Size(DecisionId decision, JobId job, ClusterView view, long since) {}

    private record Losses(List<DecisionId> decisions, ReasonNotes.Taking taking, long since) {}

    /** The memory of a domain: the last plans, and the work that is left. */
    private static final class OfDomain {
        private final Deque<Size> sizes = new ArrayDeque<>();
        private final Deque<Losses> losses = new ArrayDeque<>();
        private List<ClusterView> plans = List.of();
        private Instant planned = Instant.EPOCH;
        private int left;

        void take(DomainEvent event, ReasonNotes notes) {
            if (!notes.plans().isEmpty()) {
                plans = List.copyOf(notes.plans());
                planned = event.at();
                left = MOST_WEIGHED;
                sizes.clear();
            } else if (left == 0 || event.at().isAfter(planned.plus(PLAN_KEPT))) {
                plans = List.of();
            }
        }

        void add(Decision decision, long now) {
            if (decision.reason().is(ReasonCode.PLAN)) {
                decision.action()
                        .jobChange()
                        .flatMap(change ->
                                planFor(change.job()).map(view -> new Size(decision.id(), change.job(), view, now)))
                        .filter(size -> left > 0)
                        .ifPresent(size -> {
                            left--;
                            sizes.add(size);
                        });
            }
        }

        /** One entry for each taking, however many decisions it led to. */
        void add(List<Decision> decisions, List<ReasonNotes.Taking> takings, long now) {
            Set<DecisionId> known = new HashSet<>();
            for (ReasonNotes.Taking taking : takings) {
                Set<GpuId> victims = new HashSet<>(taking.victims());
                List<DecisionId> led = decisions.stream()
                        .filter(decision -> decision.action().asReclaim().isPresent()
                                && victims.containsAll(decision.action().gpus()))
                        .map(Decision::id)
                        .filter(known::add)
                        .toList();
                if (!led.isEmpty() && losses.size() < MOST_TAKINGS) {
                    losses.add(new Losses(led, taking, now));
                }
            }
        }

        private Optional<ClusterView> planFor(JobId job) {
            return plans.stream()
                    .filter(view ->
                            view.jobs().stream().anyMatch(known -> known.job().equals(job)))
                    .findFirst();
        }

        /**
         * Weighs the next; without effect if nothing is left.
         *
         * @param before only for decisions that were made before this time, which are written
         */
        List<KeptReason> weighed(Policy policy, long before) {
            if (!losses.isEmpty() && losses.element().since() < before) {
                Losses next = losses.remove();
                ReasonNotes.Taking taking = next.taking();
                List<Alternative> best =
                        best(policy.losses(taking.view(), Math.min(taking.count(), MOST_LOSSES)), false);
                return next.decisions().stream()
                        .filter(decision -> !best.isEmpty())
                        .map(decision -> new KeptReason(decision, Optional.empty(), best, List.of()))
                        .toList();
            }
            if (!sizes.isEmpty() && sizes.element().since() < before) {
                Size next = sizes.remove();
                List<Alternative> best = best(policy.sizes(next.view(), next.job()), true);
                return best.isEmpty()
                        ? List.of()
                        : List.of(new KeptReason(next.decision(), Optional.empty(), best, List.of()));
            }
            return List.of();
        }
    }

    KeptReasons(StepEncoder encoder) {
        this.encoder = encoder;
        this.events = new EventMemory(MOST_EVENTS, encoder::event);
    }

    /**
     * The records to publish after a step.
     *
     * @param isWaitedFor whether a decision waits to be committed. Then nothing is written or weighed, as that would
     *     delay it
     * @param arrived when the record that caused the step was appended to its topic, in milliseconds
     * @param now by the clock of this machine, in milliseconds
     */
    List<Output> after(PreparedStep made, boolean isWaitedFor, long arrived, long now) {
        DomainEvent event = made.event();
        Step step = made.step();
        OfDomain domain = domains.computeIfAbsent(event.domain(), added -> new OfDomain());
        return orNone(event.domain(), () -> {
            events.take(event, made.logged());
            domain.take(event, made.notes());
            for (Decision decision : step.decisions()) {
                if (decision.action().asRenew().isEmpty()) {
                    unwritten.add(new Unwritten(event, decision, arrived, now));
                    domain.add(decision, now);
                }
            }
            domain.add(step.decisions(), made.notes().takings(), now);
            if (!step.decisions().isEmpty() || isWaitedFor) {
                return written(unwritten.size() - MOST_UNWRITTEN, ALL);
            }
            List<Output> outputs = written(MOST_WITH_A_STEP, now);
            long before =
                    unwritten.isEmpty() ? Long.MAX_VALUE : unwritten.element().since();
            outputs.addAll(orNone(
                    event.domain(),
                    () -> domain.weighed(made.scheduler().policy(), before).stream()
                            .map(reason -> encoded(reason, event.at(), arrived))
                            .toList()));
            return outputs;
        });
    }

    /** The records to publish while no step is made. */
    List<Output> atRest(long now) {
        return written(MOST_AT_ONCE, now);
    }

    /**
     * The oldest decisions that are not written.
     *
     * @param most how many
     * @param now only those that have waited for long enough, in milliseconds; or {@link #ALL}
     */
    private List<Output> written(int most, long now) {
        List<Output> outputs = new ArrayList<>();
        while (outputs.size() < most
                && !unwritten.isEmpty()
                && unwritten.element().isDue(now)) {
            Unwritten next = unwritten.remove();
            outputs.addAll(orNone(next.event().domain(), () -> List.of(written(next))));
        }
        return outputs;
    }

    private Output written(Unwritten next) {
        Decision decision = next.decision();
        List<KeptInput> inputs = inputs(next.event(), decision);
        return encoded(
                new KeptReason(decision.id(), Optional.of(decision), List.of(), inputs),
                next.event().at(),
                next.arrived());
    }

    private static List<Output> orNone(DomainId domain, Supplier<List<Output>> reasons) {
        try {
            return reasons.get();
        } catch (RuntimeException e) {
            if (InfrastructureFailure.is(e)) {
                throw e;
            }
            log.warn("some reasons of domain {} are not kept", domain, e);
            return List.of();
        }
    }

    private List<KeptInput> inputs(DomainEvent event, Decision decision) {
        return newest(decision.reason().inputs()).stream()
                .flatMap(input -> input == event.sequence()
                        ? Stream.of(EventMemory.inShort(event))
                        : events.find(event.domain(), input).stream())
                .toList();
    }

    /** The newest of some events that are kept. */
    static List<Long> newest(List<Long> inputs) {
        return inputs.subList(Math.max(0, inputs.size() - MOST_INPUTS), inputs.size());
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

    private Output encoded(KeptReason reason, Instant at, long arrived) {
        return encoder.encode(
                TopicCatalogue.REASONS,
                reason.id().domain().value().getBytes(UTF_8),
                reason,
                reason.id() + (reason.decision().isPresent() ? "" : "/alternatives"),
                at,
                arrived,
                SchedulerTopology.REASONS);
    }
}
