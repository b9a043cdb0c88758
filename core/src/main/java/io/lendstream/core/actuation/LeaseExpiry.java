package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Takes GPUs back whose leases end, under the decisions that granted them. */
final class LeaseExpiry {
    private final ActuationState state;

    LeaseExpiry(ActuationState state) {
        this.state = state;
    }

    private record Loan(Tenant tenant, DecisionId granted) {}

    /** Starts to take back all GPUs whose leases end at this time. */
    void end(Instant until) {
        Map<Loan, List<GpuId>> ending = new LinkedHashMap<>();
        for (Holding holding : state.loansEndingAt(until)) {
            holding.loan()
                    .ifPresent(loan -> ending.computeIfAbsent(
                                    new Loan(holding.tenant(), loan.granted()), any -> new ArrayList<>())
                            .add(holding.gpu()));
        }
        ending.forEach((loan, gpus) -> end(loan, gpus, until));
    }

    private void end(Loan loan, List<GpuId> gpus, Instant until) {
        Optional<TrainingJob> job = state.jobOf(loan.granted.domain(), loan.tenant);
        int before = state.active(loan.tenant).size();
        ChangeTiming timing = state.delays()
                .changeTiming(new ChangeFacts(
                        loan.granted,
                        loan.tenant,
                        gpus,
                        List.of(),
                        before,
                        before - gpus.size(),
                        job.map(each -> each.scaling().elastic()).orElse(false) ? Mechanism.AFE : Mechanism.RESTART,
                        0,
                        Duration.ZERO,
                        job,
                        Optional.empty()));
        Instant by = state.clock().plus(state.leaseNotice());
        Execution.of(state, timing)
                .endLease(new UnitRelease(loan.granted, loan.tenant, gpus, by, "lease ran out at " + until));
    }
}
