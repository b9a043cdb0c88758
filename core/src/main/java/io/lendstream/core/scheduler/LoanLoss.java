package io.lendstream.core.scheduler;

import io.lendstream.core.id.JobId;
import io.lendstream.core.scheduler.CuttableGpus.Unit;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What training loses where loans are taken back. */
record LoanLoss(StepBuilder builder) {
    /**
     * Training that is lost where jobs leave units: in GPU-seconds until their leases end, and until they run
     * elsewhere.
     */
    double of(List<Unit> units) {
        return units.stream().mapToDouble(this::lost).sum();
    }

    private double lost(Unit unit) {
        Optional<Owner.Lent> lent = unit.state().owner().asLent();
        if (lent.isEmpty()) {
            return 0;
        }
        double share = unit.state().instance().map(MigInstance::share).orElse(1.0);
        Duration left = Duration.between(builder.now(), lent.get().until())
                .plus(restart(lent.get().job()));
        return share * Math.max(0, left.toSeconds());
    }

    private Duration restart(JobId job) {
        return builder.jobs().get(job).map(state -> state.costs().first()).orElse(Duration.ZERO);
    }
}
