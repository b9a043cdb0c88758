package io.lendstream.simulator.replay;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.state.Lease;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.results.RunOutcome;
import java.util.List;

/**
 * A replay that is over.
 *
 * @param facts what a report shows of it
 * @param events how many events the scheduler took in
 * @param log every event that the scheduler took in, in order; empty where it was not kept
 * @param leases the owner of each GPU at the end
 */
public record Replayed(RunOutcome outcome, ReportedRun facts, long events, List<DomainEvent> log, List<Lease> leases) {
    public Replayed {
        log = List.copyOf(log);
        leases = List.copyOf(leases);
    }
}
