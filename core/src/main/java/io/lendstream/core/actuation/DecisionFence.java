package io.lendstream.core.actuation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Refuses decisions that are outdated, repeated, late, only advice, or about GPUs or jobs of another domain. */
final class DecisionFence {
    private final ActuationState state;

    DecisionFence(ActuationState state) {
        this.state = state;
    }

    /** Why a decision is refused, with the text of the report. */
    record Objection(Refusal refusal, String text) {}

    /** The only place where a decision is let in; empty if it is. */
    Optional<Objection> objection(Decision decision) {
        Optional<Refusal> outdated = outdated(decision);
        return outdated.isPresent()
                ? outdated.map(refusal -> new Objection(refusal, text(decision, refusal)))
                : foreign(decision).map(text -> new Objection(Refusal.OTHER_DOMAIN, text));
    }

    /**
     * Why a change comes too late: it only gives GPUs, and its decision's deadline is over, so that it could not be in
     * force in time. A change by which a tenant leaves a GPU is never too late, because the tenant would stay there.
     */
    Optional<Objection> lateness(Decision decision, TenantChange change) {
        boolean onlyGives = !change.gained().isEmpty() && !change.givesUp() && !decision.isReclaim();
        Instant by = decision.deadline();
        if (!state.refusesLate() || !onlyGives || !state.clock().isAfter(by)) {
            return Optional.empty();
        }
        Duration late = Duration.between(by, state.clock());
        return Optional.of(new Objection(
                Refusal.TOO_LATE,
                "too late: it arrived at %s by this actuator's clock, %d.%03d s after its deadline %s"
                        .formatted(state.clock(), late.toSeconds(), late.toMillisPart(), by)));
    }

    private Optional<Refusal> outdated(Decision decision) {
        DecisionId id = decision.id();
        Optional<DecisionId> last = state.latest(id.domain());
        if (last.isPresent() && id.epoch() < last.get().epoch()) {
            return Optional.of(Refusal.OLD_EPOCH);
        }
        if (last.isPresent() && id.compareTo(last.get()) <= 0) {
            return Optional.of(Refusal.SEEN_BEFORE);
        }
        state.see(id);
        return decision.advisory() ? Optional.of(Refusal.ADVISORY) : Optional.empty();
    }

    private String text(Decision decision, Refusal refusal) {
        DecisionId id = decision.id();
        String last = state.latest(id.domain()).map(DecisionId::toString).orElse("");
        return switch (refusal) {
            case OLD_EPOCH -> "epoch %d is over: %s has been decided since".formatted(id.epoch(), last);
            case SEEN_BEFORE -> "seen before: the last decision of this epoch was " + last;
            default ->
                "advisory: it is advice until it is approved, the level of trust is raised, or advisory mode is switched off";
        };
    }

    /**
     * The GPU or the job of another domain that a decision is about, as text. A job without GPUs joins the decision's
     * domain.
     */
    private Optional<String> foreign(Decision decision) {
        DomainId domain = decision.id().domain();
        for (GpuId gpu : decision.action().gpus()) {
            if (state.inventory().isElsewhere(domain, gpu)) {
                return state.inventory().domainOf(gpu).map(other -> "%s is a GPU of domain %s".formatted(gpu, other));
            }
        }
        Optional<Tenant> job = decision.action().match(new TenantOf()).filter(Tenant.Job.class::isInstance);
        Optional<DomainId> home = job.flatMap(state::home).filter(other -> !other.equals(domain));
        job.filter(any -> home.isEmpty()).ifPresent(tenant -> state.settle(tenant, domain));
        return home.map(
                other -> "a job of this name runs in domain %s; one actuator runs jobs of one name for one domain"
                        .formatted(other));
    }
}
