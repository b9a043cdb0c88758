package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
            if (holding.adopted().isPresent() && holding.phase() == Holding.Phase.BINDING) {
                state.endLoan(holding); // it is not taken over yet, and must not be stopped for that
                continue;
            }
            holding.loan()
                    .ifPresent(loan -> ending.computeIfAbsent(
                                    new Loan(holding.tenant(), loan.granted()), any -> new ArrayList<>())
                            .add(holding.gpu()));
        }
        ChangeStarter starter = new ChangeStarter(state);
        Instant by = state.clock().plus(state.leaseNotice());
        ending.forEach((loan, gpus) ->
                starter.endLease(new UnitRelease(loan.granted, loan.tenant, gpus, by, "lease ran out at " + until)));
    }
}
