package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The steps of changes that are not finished, in the order in which they are due. A step happens when a driver reports
 * it, and is overdue when it is due.
 */
final class PendingSteps {
    private static final SortedSet<PendingStep> NONE = Collections.emptySortedSet();

    private final TreeSet<PendingStep> steps = new TreeSet<>();
    private final Map<Tenant, SortedSet<PendingStep>> byTenant = new HashMap<>();
    private long nextOrder;

    /** What a step changes, and under which decision. */
    record Subject(DecisionId decision, Optional<Tenant> tenant, Collection<GpuId> gpus) {
        static Subject of(DecisionId decision, Tenant tenant, Collection<GpuId> gpus) {
            return new Subject(decision, Optional.of(tenant), gpus);
        }
    }

    /** Continues with saved steps. */
    void restore(Collection<PendingStep> saved, long nextOrderThen) {
        saved.forEach(this::add);
        nextOrder = nextOrderThen;
    }

    List<PendingStep> all() {
        return List.copyOf(steps);
    }

    /** The number of the next step. */
    long nextOrder() {
        return nextOrder;
    }

    /** The step that is due first. */
    Optional<PendingStep> first() {
        return steps.isEmpty() ? Optional.empty() : Optional.of(steps.first());
    }

    /** Adds a step that a driver has to report, at the latest when it is due. */
    void await(Instant since, Instant due, PendingStep.Kind kind, Subject subject, String reason) {
        add(new PendingStep(
                due,
                since,
                nextOrder++,
                kind,
                subject.decision,
                subject.tenant,
                List.copyOf(subject.gpus),
                Timings.NONE,
                reason));
    }

    /** Waits for an overdue step until another time. */
    void awaitAgain(PendingStep step) {
        add(step);
    }

    private void add(PendingStep step) {
        steps.add(step);
        if (step.tenant().isPresent()) {
            byTenant.computeIfAbsent(step.tenant().get(), any -> new TreeSet<>())
                    .add(step);
        }
    }

    void remove(PendingStep step) {
        steps.remove(step);
        if (step.tenant().isPresent()) {
            SortedSet<PendingStep> left = byTenant.get(step.tenant().get());
            if (left != null && left.remove(step) && left.isEmpty()) {
                byTenant.remove(step.tenant().get());
            }
        }
    }

    void removeIf(Predicate<PendingStep> which) {
        filtered(steps, which).forEach(this::remove);
    }

    /** Removes steps about a tenant. */
    void removeIf(Tenant tenant, Predicate<PendingStep> which) {
        awaited(tenant, which).forEach(this::remove);
    }

    /**
     * Takes some GPUs out of a step, and returns the part of it that is about them. The step is dropped if none is
     * left.
     */
    PendingStep takeOut(PendingStep step, List<GpuId> gpus) {
        remove(step);
        List<GpuId> rest = new ArrayList<>(step.gpus());
        rest.removeAll(gpus);
        if (!rest.isEmpty()) {
            add(step.of(rest));
        }
        return step.of(gpus);
    }

    /** Takes GPUs out of steps. A step without GPUs is dropped, except that an APPLY is still reported. */
    void withdraw(Collection<GpuId> gpus, Predicate<PendingStep> which) {
        withdraw(gpus, filtered(steps, which));
    }

    /** The same for the steps about a tenant. */
    void withdraw(Tenant tenant, Collection<GpuId> gpus, Predicate<PendingStep> which) {
        withdraw(gpus, awaited(tenant, which));
    }

    private void withdraw(Collection<GpuId> gpus, List<PendingStep> candidates) {
        for (PendingStep step : candidates) {
            List<GpuId> withdrawn = new ArrayList<>(step.gpus());
            withdrawn.retainAll(gpus);
            if (withdrawn.isEmpty()) {
                continue;
            }
            List<GpuId> rest = new ArrayList<>(step.gpus());
            rest.removeAll(withdrawn);
            remove(step);
            if (step.kind() == PendingStep.Kind.APPLY) {
                String without = "without " + ReasonText.names(withdrawn);
                add(step.of(rest).because(ReasonText.join(step.reason(), without)));
            } else if (!rest.isEmpty()) {
                add(step.of(rest));
            }
        }
    }

    /** Names the GPUs of the steps about a tenant by other names. */
    void rename(Tenant tenant, UnaryOperator<GpuId> names) {
        for (PendingStep step : awaited(tenant, any -> true)) {
            PendingStep renamed = step.of(step.gpus().stream().map(names).toList());
            if (!renamed.equals(step)) {
                remove(step);
                add(renamed);
            }
        }
    }

    /**
     * Moves releases of GPUs to a newer decision that asks for them too, by its own deadline. So does the kill of a
     * tenant that did not start.
     */
    void expedite(DecisionId decision, Collection<GpuId> gpus, Instant by, Instant now) {
        if (gpus.isEmpty()) {
            return;
        }
        Instant deadline = PendingStep.later(now, by);
        for (PendingStep step : all()) {
            if (!(step.frees() || step.kills())) {
                continue;
            }
            List<GpuId> moved = new ArrayList<>(step.gpus());
            moved.retainAll(gpus);
            if (moved.isEmpty()) {
                continue;
            }
            PendingStep part = takeOut(step, moved);
            Instant due = step.due().isAfter(deadline) ? deadline : step.due();
            String reason = ReasonText.join(step.reason(), "first asked for by " + step.decision());
            // Both parts may be due at the same time, so the moved part needs a number of its own.
            add(part.owedBy(decision, due, nextOrder++, reason));
        }
    }

    /** A release or a start has ended: the steps of its decision that follow it are measured from then. */
    void measure(PendingStep ended, Instant at) {
        boolean isRelease = ended.frees();
        List<PendingStep> later = awaited(
                ended.tenant().orElseThrow(),
                step -> (step.kind() == PendingStep.Kind.APPLY || (isRelease && step.binds()))
                        && step.decision().equals(ended.decision()));
        for (PendingStep step : later) {
            remove(step);
            add(isRelease ? step.afterRelease(at) : step.afterBind(at));
        }
    }

    /** The steps about a tenant, in the order in which they are due. */
    List<PendingStep> awaited(Tenant tenant, Predicate<PendingStep> which) {
        return filtered(about(tenant), which);
    }

    private SortedSet<PendingStep> about(Tenant tenant) {
        return byTenant.getOrDefault(tenant, NONE);
    }

    /** Asked several times for every change, and so without a stream. */
    private static List<PendingStep> filtered(SortedSet<PendingStep> candidates, Predicate<PendingStep> which) {
        if (candidates.isEmpty()) {
            return List.of();
        }
        List<PendingStep> found = new ArrayList<>();
        for (PendingStep step : candidates) {
            if (which.test(step)) {
                found.add(step);
            }
        }
        return found;
    }

    /** Units on which a driver has not confirmed since a restart that its tenant still runs. */
    Set<GpuId> unconfirmed() {
        return steps.stream()
                .filter(step -> step.kind() == PendingStep.Kind.RETURN)
                .flatMap(step -> step.gpus().stream())
                .collect(Collectors.toSet());
    }

    /** Whether the MIG instances of a GPU are being changed, so that neither it nor they can be used. */
    boolean isRecut(GpuId gpu) {
        for (PendingStep step : steps) {
            if (step.kind() == PendingStep.Kind.RECUT && step.gpus().contains(gpu)) {
                return true;
            }
        }
        return false;
    }
}
