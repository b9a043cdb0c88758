package io.lendstream.core.history;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;

/** Checkers of the histories of schedulers with a fault, for tests of other packages. */
public final class FaultyHistories {
    private FaultyHistories() {}

    /** What an event leads to, by a scheduler with a fault. */
    public interface Faulty {
        Step step(Scheduler scheduler, ClusterState state, DomainEvent event);
    }

    /** A checker that replays a log with the same fault, so that the rules see what it led to. */
    public static HistoryChecker checker(DomainId domain, Faulty faulty) {
        return new HistoryChecker(domain, Scheduler::of, faulty::step);
    }
}
