package io.lendstream.core.scheduler;

import io.lendstream.core.state.LoanStart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The loans that began a short time ago, in a step: {@code scheduler.max-loans-per-minute} counts them. */
final class RecentLoans {
    private List<LoanStart> starts;

    RecentLoans(List<LoanStart> before) {
        this.starts = before;
    }

    /** Counts loans that begin now; none if a bundle of nodes was lent before. */
    void begin(Instant now, int gpus) {
        if (gpus == 0) {
            return;
        }
        List<LoanStart> next = new ArrayList<>(starts);
        next.add(new LoanStart(now, gpus));
        starts = List.copyOf(next);
    }

    /** GPUs whose loans began after a time. */
    long after(Instant time) {
        long gpus = 0;
        for (LoanStart start : starts) {
            gpus += start.at().isAfter(time) ? start.gpus() : 0;
        }
        return gpus;
    }

    /** Forgets the loans that began up to a time. */
    void forgetUpTo(Instant time) {
        if (!starts.isEmpty() && !starts.get(0).at().isAfter(time)) {
            List<LoanStart> next = new ArrayList<>(starts);
            next.removeIf(start -> !start.at().isAfter(time));
            starts = List.copyOf(next);
        }
    }

    /** The loans that are not forgotten, oldest first. */
    List<LoanStart> all() {
        return starts;
    }
}
