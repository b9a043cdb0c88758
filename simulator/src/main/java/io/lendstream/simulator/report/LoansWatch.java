package io.lendstream.simulator.report;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;

/**
 * The loans of a run, and their lengths. Where names of GPUs stand for slots, two GPUs may exchange their owners: a
 * loan then ends on one GPU and begins on another one like it, by one event. This is one loan. The records of the two
 * GPUs may be read in any order.
 */
final class LoansWatch {
    /** The other record of an exchange is read soon. */
    private static final int REMEMBERED = 1000;

    private final Map<GpuId, Loan> open = new HashMap<>();
    /** The jobs that are about to get GPUs whose names stand for slots. */
    private final Map<GpuId, JobId> binding = new HashMap<>();
    /** Loans that have ended, unless they go on elsewhere. */
    private final Deque<Side> ended = new ArrayDeque<>();
    /** Loans that have begun, unless they come from elsewhere. */
    private final Deque<Side> begun = new ArrayDeque<>();

    private long count;
    private double seconds;
    private double longestSeconds;

    private static final class Loan {
        private final JobId job;
        private Instant since;
        private Instant end = Instant.MAX;

        private Loan(JobId job, Instant since) {
            this.job = job;
            this.since = since;
        }

        private double seconds() {
            return Math.max(0, Duration.between(since, end).toMillis() / 1000.0);
        }
    }

    /** What the two records of an exchange have in common. */
    private record Common(
            DomainId domain, long epoch, long sequence, NodeId node, Pool pool, Optional<KindId> kind, JobId job) {
        private static Common of(Lease lease, JobId job) {
            return new Common(
                    lease.domain(), lease.epoch(), lease.sequence(), lease.nodeId(), lease.pool(), lease.kind(), job);
        }
    }

    /**
     * One side of a possible exchange.
     *
     * @param common empty if it is none
     * @param isTransfer whether the GPU was on its way to the job, or is on its way back. If both are, the job gets
     *     one GPU and leaves another, and nothing is exchanged
     */
    private record Side(Optional<Common> common, Loan loan, boolean isTransfer) {
        private boolean isOtherOf(Side side) {
            return common.isPresent() && common.equals(side.common) && !(isTransfer && side.isTransfer);
        }
    }

    void take(Lease lease) {
        GpuId gpu = lease.gpuId();
        Optional<JobId> job = lease.owner().holdingJob();
        Optional<JobId> bound = Optional.ofNullable(binding.remove(gpu));
        if (lease.owner().isLent() && job.isPresent()) {
            if (!open.containsKey(gpu)) {
                begin(lease, job.get(), bound.equals(job));
            }
            return;
        }
        if (lease.owner().isBinding() && lease.slot().isPresent()) {
            job.ifPresent(next -> binding.put(gpu, next));
        }
        Optional.ofNullable(open.remove(gpu)).ifPresent(loan -> {
            loan.end = lease.since();
            boolean isLeaving = lease.owner().isReleasing() && job.equals(Optional.of(loan.job));
            end(new Side(Optional.of(Common.of(lease, loan.job)), loan, isLeaving));
        });
    }

    private void begin(Lease lease, JobId job, boolean wasBinding) {
        Loan fresh = new Loan(job, lease.since());
        if (lease.slot().isEmpty()) {
            open.put(lease.gpuId(), fresh);
            return;
        }
        Side side = new Side(Optional.of(Common.of(lease, job)), fresh, wasBinding);
        Optional<Side> other = takeOther(ended, side);
        if (other.isEmpty()) {
            begun.addLast(side);
            if (begun.size() > REMEMBERED) {
                begun.removeFirst();
            }
        }
        open.put(lease.gpuId(), other.map(Side::loan).orElse(fresh));
    }

    private void end(Side side) {
        Optional<Side> other = takeOther(begun, side);
        if (other.isPresent()) {
            other.get().loan.since = side.loan.since;
            return;
        }
        ended.addLast(side);
        if (ended.size() > REMEMBERED) {
            Loan loan = ended.removeFirst().loan;
            count++;
            seconds += loan.seconds();
            longestSeconds = Math.max(longestSeconds, loan.seconds());
        }
    }

    /** Takes the other side of an exchange out of those remembered. */
    private static Optional<Side> takeOther(Deque<Side> remembered, Side side) {
        for (Iterator<Side> each = remembered.descendingIterator(); each.hasNext(); ) {
            Side other = each.next();
            if (other.isOtherOf(side)) {
                each.remove();
                return Optional.of(other);
            }
        }
        return Optional.empty();
    }

    /** A GPU is gone, and with it its loan. */
    void gone(GpuId gpu, Instant at) {
        binding.remove(gpu);
        Optional.ofNullable(open.remove(gpu)).ifPresent(loan -> {
            loan.end = at;
            end(new Side(Optional.empty(), loan, false));
        });
    }

    /** Loans that have ended. */
    long ended() {
        return count + ended.size();
    }

    /** The mean length of those; 0 if there are none. */
    double meanSeconds() {
        double sum = seconds;
        for (Side side : ended) {
            sum += side.loan.seconds();
        }
        return ended() == 0 ? 0 : sum / ended();
    }

    /** The length of the longest of those. */
    double longestSeconds() {
        double longest = longestSeconds;
        for (Side side : ended) {
            longest = Math.max(longest, side.loan.seconds());
        }
        return longest;
    }
}
