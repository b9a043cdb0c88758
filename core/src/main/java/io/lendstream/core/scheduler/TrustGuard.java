package io.lendstream.core.scheduler;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
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

/** Which GPUs of inference, and how many, the level of trust allows to lend. It never limits what inference gets. */
record TrustGuard(StepBuilder builder, SchedulerSettings settings) {
    private static final double ROUNDING = 1e-9;

    /** Whether only the GPUs that one service leaves idle are lent. */
    boolean namesUnits() {
        return builder.mode().level() == TrustLevel.ONE_SERVICE;
    }

    /** Why a unit must not be lent; empty if it may. Units of training may always be used. */
    Optional<String> against(GpuState unit) {
        if (!namesUnits() || unit.pool() != Pool.INFERENCE) {
            return Optional.empty();
        }
        Optional<ServiceId> service = builder.mode().trust().flatMap(Trust::service);
        if (service.isEmpty()) {
            return Optional.of("the level of trust is one, and no service is named");
        }
        return isLeftBy(unit, service.get())
                ? Optional.empty()
                : Optional.of("the level of trust is one (service %s), and %s"
                        .formatted(
                                service.get(),
                                unit.lastService()
                                        .map(other -> "the last replica on it was one of " + other)
                                        .orElse("no replica of this service has left it")));
    }

    /** Whether a service has left a unit idle, as far as the log shows: its replica was the last one there. */
    static boolean isLeftBy(GpuState unit, ServiceId service) {
        return unit.lastService().filter(service::equals).isPresent();
    }

    /** The greatest share of inference GPUs that may be lent, by the level and the settings. */
    double share() {
        double share = settings.changeLimits().maxShareLent();
        return limitsShare() ? settings.changeLimits().trust().share() : share;
    }

    private boolean limitsShare() {
        return builder.mode().level() == TrustLevel.SHARE
                && settings.changeLimits().trust().share()
                        < settings.changeLimits().maxShareLent();
    }

    /** The rule that gives the share, such as {@code scheduler.max-share-lent is 0.5}. */
    String shareRule() {
        return limitsShare()
                ? "the level of trust is share, and scheduler.trust-share is "
                        + settings.changeLimits().trust().share()
                : "scheduler.max-share-lent is " + settings.changeLimits().maxShareLent();
    }

    /** What an operator can do to lend more. */
    String shareRemedy() {
        return limitsShare() ? "raise the level ('lendstream trust') to lend more" : "raise the setting to lend more";
    }

    /** What the level of trust limits now; empty if it limits nothing. */
    Optional<String> limit() {
        TrustLevel level = builder.mode().level();
        if (level.onlyObserves()) {
            return Optional.of("the level of trust is observe, so no decision is made");
        }
        if (level.isAdvice()) {
            return Optional.of("the level of trust is advise, so decisions are only advice");
        }
        return level.limitsLoans()
                ? builder.mode()
                        .trust()
                        .map(trust -> "the level of trust is %s, so %s"
                                .formatted(
                                        trust.inWords(),
                                        namesUnits()
                                                ? "only GPUs that this service leaves idle are lent"
                                                : "at most %s of inference GPUs are lent".formatted(percent(share()))))
                : Optional.empty();
    }

    static String percent(double share) {
        return "%s %%".formatted(Math.round(share * 1000) / 10.0);
    }

    /** Reclaims the loans beyond the level, the newest first, with notice. What was taken over as it ran stays. */
    void takeBackExcess() {
        if (!builder.mode().level().limitsLoans()
                || builder.clusterIndex().gpus().loans().isEmpty()) {
            return;
        }
        List<GpuId> excess =
                namesUnits() ? loans(unit -> !isTakenOver(unit) && against(unit).isPresent()) : beyondShare();
        takeBack(excess, limit().orElse(""));
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
                .filter(job -> job.spec().adopt().isPresent())
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
        List<GpuState> newest = new ArrayList<>();
        loans(unit -> !isTakenOver(unit)).forEach(id -> newest.add(builder.gpu(id)));
        newest.sort(Comparator.comparing(TrustGuard::loan)
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
            boolean isBeyond =
                    loan.isWhole() ? wholeLent > Math.floor(share() * whole) : lent > share() * all + ROUNDING;
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
