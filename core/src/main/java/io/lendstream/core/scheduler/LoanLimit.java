package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Promise;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The number of inference GPUs that may be newly lent now. The limit per minute counts the loans that began in the last
 * minute or, if a policy plans less often, in the time between its plans; and those that are decided and wait for GPUs.
 *
 * @param most the greatest number
 * @param rule the setting that limits it, with its value and the way out
 */
record LoanLimit(long most, String rule) {
    /** The limit on the loans of a plan, which replaces the plan before it. */
    static LoanLimit ofPlan(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        return of(builder, policy, settings, promised(builder));
    }

    /** The limit on loans that come besides those of the last plan. */
    static LoanLimit besidePlan(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        return of(builder, policy, settings, planned(builder));
    }

    /** Whether units for a job keep the share that may be lent, with the loans that are promised or planned. */
    static boolean keepsShare(StepBuilder builder, SchedulerSettings settings, List<GpuId> target) {
        TrustGuard trust = new TrustGuard(builder, settings);
        double share = trust.share();
        if (new LoanGuard(builder, settings).againstAny(target).isPresent()) {
            return false;
        }
        if (share >= 1 || target.stream().noneMatch(unit -> isInference(builder, unit))) {
            return true;
        }
        Set<GpuId> lent = new HashSet<>(promised(builder));
        lent.addAll(planned(builder));
        lent.addAll(target);
        lent.removeIf(unit -> !isInference(builder, unit));
        long inference = 0;
        for (GpuState unit : builder.gpus().values()) {
            if (unit.pool() == Pool.INFERENCE && unit.isWhole() && !unit.owner().isForeign()) {
                inference += builder.isReachable(unit) ? 1 : 0;
                if (unit.owner().isHeldByJob() && !unit.owner().isReleasing()) {
                    lent.add(unit.gpuId());
                }
            }
        }
        return lent.size() <= Math.floor(share * inference);
    }

    /** The tighter of the limits per minute and on transfers. */
    private static LoanLimit of(
            StepBuilder builder, Policy policy, SchedulerSettings settings, List<GpuId> waitsForLoan) {
        long minutes = minutes(policy);
        long counted = builder.loans().after(since(builder, policy))
                + new Bundles(builder).loans(waitsForLoan, new HashSet<>());
        int perMinute = settings.changeLimits().maxLoansPerMinute();
        long perPlan = Math.max(0, perMinute * minutes - counted);
        TransferPace pace = new TransferPace(builder, settings);
        long room = pace.room();
        return room < perPlan
                ? new LoanLimit(room, pace.explained())
                : new LoanLimit(
                        perPlan,
                        "scheduler.max-loans-per-minute is %d (%d min between plans)%s; wait for the next plan, or raise it"
                                .formatted(
                                        perMinute,
                                        minutes,
                                        counted > 0
                                                ? ", and %s began in that time or %s for GPUs"
                                                        .formatted(
                                                                Reason.counted((int) counted, "loan"),
                                                                counted == 1 ? "waits" : "wait")
                                                : ""));
    }

    private static long minutes(Policy policy) {
        return Math.max(1, policy.planEvery().toMinutes());
    }

    private static Instant since(StepBuilder builder, Policy policy) {
        return builder.now().minus(Duration.ofMinutes(minutes(policy)));
    }

    /** Forgets the loans that count no more. */
    static void forget(StepBuilder builder, Policy policy) {
        builder.loans().forgetUpTo(since(builder, policy));
    }

    /** Inference GPUs that are promised to jobs. */
    private static List<GpuId> promised(StepBuilder builder) {
        List<GpuId> promised = new ArrayList<>();
        for (Promise promise : builder.promises().all()) {
            if (promise.tenant().isJob() && isInference(builder, promise.unit())) {
                promised.add(promise.unit());
            }
        }
        return promised;
    }

    /** Inference GPUs that jobs wait for, by the last plan or a promise. */
    private static List<GpuId> planned(StepBuilder builder) {
        List<GpuId> planned = new ArrayList<>();
        for (JobState job : builder.clusterIndex().jobs().unsettled().values()) {
            for (GpuId unit : job.target()) {
                if (isInference(builder, unit) && !job.allocation().gpus().contains(unit)) {
                    planned.add(unit);
                }
            }
        }
        return planned;
    }

    private static boolean isInference(StepBuilder builder, GpuId id) {
        Optional<GpuState> unit = builder.gpus().get(id);
        return unit.isPresent() && unit.get().pool() == Pool.INFERENCE;
    }

    /** The cause why a number of loans is too large; empty if it is not. */
    Optional<String> against(long loans) {
        return loans > most
                ? Optional.of("%s would begin, but only %d may begin now: %s"
                        .formatted(loans == 1 ? "1 new loan" : loans + " new loans", most, rule))
                : Optional.empty();
    }
}
