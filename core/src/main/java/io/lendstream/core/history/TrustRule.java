package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Trust;
import java.util.List;
import java.util.Optional;

/** No GPU is lent beyond the level of trust: approved advice is allowed where decisions are only advice. */
final class TrustRule implements HistoryRule {
    private final Violations violations;

    TrustRule(Violations violations) {
        this.violations = violations;
    }

    @Override
    public void decided(Decision decision, ReplayedEvent replayed) {
        Optional<Trust> trust = replayed.state().mode().trust();
        if (trust.isPresent() && decision.action().asLend().isPresent() && !decision.advisory()) {
            beyond(decision, trust.get(), replayed)
                    .ifPresent(text -> violations.add(
                            Rule.TRUST,
                            "with decision %s at the level %s, %s"
                                    .formatted(decision.id(), trust.get().inWords(), text)));
        }
    }

    private static Optional<String> beyond(Decision decision, Trust trust, ReplayedEvent replayed) {
        TrustLevel level = trust.level();
        if (level.isAdvice()) {
            boolean isApproved = decision.reason().is(ReasonCode.APPROVED) && !level.onlyObserves();
            return isApproved ? Optional.empty() : Optional.of("GPUs are lent without an approval");
        }
        return switch (level) {
            case ONE_SERVICE -> notLeftBy(trust.service(), decision.action().gpus(), replayed);
            case SHARE -> beyondShare(replayed);
            default -> Optional.empty();
        };
    }

    private static Optional<String> notLeftBy(Optional<ServiceId> service, List<GpuId> lent, ReplayedEvent replayed) {
        return lent.stream()
                .flatMap(id -> replayed.state().gpus().get(id).stream())
                .filter(unit -> unit.pool() == Pool.INFERENCE)
                .filter(unit -> service.isEmpty() || !unit.lastService().equals(service))
                .findFirst()
                .map(unit -> "%s is lent, which this service has not left idle".formatted(unit.gpuId()));
    }

    private static Optional<String> beyondShare(ReplayedEvent replayed) {
        List<GpuState> inference = replayed.state().gpus().stream()
                .filter(gpu -> gpu.pool() == Pool.INFERENCE
                        && gpu.isWhole()
                        && !gpu.owner().isForeign())
                .toList();
        long lent = inference.stream()
                .filter(gpu -> isLent(gpu.owner()) && !isTakenOver(gpu.owner(), replayed))
                .count();
        double share = replayed.scheduler().settings().changeLimits().trust().share();
        return lent > Math.floor(share * inference.size())
                ? Optional.of("%d of %d inference GPUs are lent, more than the share of %s"
                        .formatted(lent, inference.size(), share))
                : Optional.empty();
    }

    /** What ran before it was taken over stays at every level. */
    private static boolean isTakenOver(Owner owner, ReplayedEvent replayed) {
        return owner.holdingJob()
                .flatMap(replayed.state().jobs()::get)
                .filter(replayed.scheduler().settings().model().users()::isTakenOver)
                .isPresent();
    }

    private static boolean isLent(Owner owner) {
        return owner.isLent() || owner.asBinding().flatMap(Owner.Binding::until).isPresent();
    }
}
