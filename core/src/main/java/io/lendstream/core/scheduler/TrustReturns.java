package io.lendstream.core.scheduler;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Trust;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Takes loans back that the level of trust does not allow any more. What was taken over as it ran stays. */
record TrustReturns(StepBuilder builder, SchedulerSettings settings) {
    private static final double ROUNDING = 1e-9;

    /** Reclaims the loans beyond the level, the newest first, with notice. What was taken over as it ran stays. */
    void takeBackExcess() {
        if (!builder.mode().level().limitsLoans()
                || builder.clusterIndex().gpus().loans().isEmpty()) {
            return;
        }
        TrustGuard trust = new TrustGuard(builder, settings);
        List<GpuId> excess = trust.namesUnits()
                ? loans(unit -> !isTakenOver(unit) && trust.against(unit).isPresent())
                : beyondShare();
        takeBack(excess, trust.limit().orElse(""));
    }

    /**
     * At levels of advice: reclaims the loans that began before the level did, with notice. It is asked in every step,
     * as a loan may be bound, or nodes be silent, when the level falls. Loans that are approved begin later.
     */
    void takeBackOlder() {
        Optional<Trust> trust =
                builder.mode().trust().filter(known -> known.level().isAdvice());
        if (trust.isEmpty()
                || builder.clusterIndex().gpus().loans().isEmpty()
                || new Safety(settings).againstEverything(builder).isPresent()) {
            return;
        }
        Instant first = trust.get().since().plus(settings.lease());
        builder.binding(true);
        takeBack(
                loans(unit -> !isTakenOver(unit) && leaseEnd(unit).isBefore(first)),
                "the level of trust fell to %s after this loan began"
                        .formatted(trust.get().level().label()));
        builder.binding(!builder.mode().isAdvisory());
    }

    /** Whether the job on a unit is one that is taken over as it runs: it goes on until inference needs the unit. */
    boolean isTakenOver(GpuState unit) {
        return unit.owner()
                .holdingJob()
                .flatMap(builder.jobs()::get)
                .filter(settings.model().users()::isTakenOver)
                .isPresent();
    }

    private void takeBack(List<GpuId> loans, String why) {
        if (!loans.isEmpty()) {
            new JobChanges(builder, settings)
                    .takeBack(
                            loans,
                            returned -> builder.because(
                                    ReasonCode.TRUST,
                                    returned.inWords() + ": " + why,
                                    returned.numbers(Map.of()),
                                    List.of()));
        }
    }

    private List<GpuId> loans(Predicate<GpuState> which) {
        TreeSet<GpuId> loans = new TreeSet<>();
        for (GpuId id : builder.clusterIndex().gpus().loans().values()) {
            if (which.test(builder.gpu(id))) {
                loans.add(id);
            }
        }
        return List.copyOf(loans);
    }

    /** Loans beyond the share. Whole GPUs and MIG instances are counted as plans do. */
    private List<GpuId> beyondShare() {
        double share = new TrustGuard(builder, settings).share();
        List<GpuState> newest = new ArrayList<>();
        loans(unit -> !isTakenOver(unit)).forEach(id -> newest.add(builder.gpu(id)));
        newest.sort(Comparator.comparing(TrustReturns::loan)
                .thenComparing(GpuState::gpuId)
                .reversed());
        double all = 0;
        double lent = 0;
        int whole = 0;
        int wholeLent = 0;
        for (GpuState unit : builder.gpus().values()) {
            boolean counts = unit.pool() == Pool.INFERENCE && !unit.owner().isForeign();
            if (counts) {
                boolean isLent = unit.owner().isHeldByJob() && !unit.owner().isReleasing();
                all += size(unit);
                lent += isLent ? size(unit) : 0;
                whole += unit.isWhole() ? 1 : 0;
                wholeLent += unit.isWhole() && isLent ? 1 : 0;
            }
        }
        List<GpuId> beyond = new ArrayList<>();
        for (GpuState loan : newest) {
            boolean isBeyond = loan.isWhole() ? wholeLent > Math.floor(share * whole) : lent > share * all + ROUNDING;
            if (isBeyond) {
                beyond.add(loan.gpuId());
                lent -= size(loan);
                wholeLent -= loan.isWhole() ? 1 : 0;
            }
        }
        return beyond;
    }

    private static double size(GpuState unit) {
        return unit.instance().map(MigInstance::share).orElse(1.0);
    }

    private static Instant leaseEnd(GpuState unit) {
        return unit.owner().asLent().map(Owner.Lent::until).orElseThrow();
    }

    private static DecisionId loan(GpuState unit) {
        return unit.owner().asLent().map(Owner.Lent::decision).orElseThrow();
    }
}
