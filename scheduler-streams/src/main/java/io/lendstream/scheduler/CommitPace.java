package io.lendstream.scheduler;

import java.time.Duration;
import java.util.Optional;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/**
 * Decides when a task requests a commit. A commit blocks the task for some milliseconds, so one commit per decision
 * would delay the decisions behind it. Decisions that demand waits for are committed at once, unless a commit has
 * just happened. All others are batched, or go with the next commit that happens for another reason.
 */
final class CommitPace {
    private static final long URGENT_MILLIS = 5;
    private static final long USUAL_MILLIS = 25;
    /** Other records that are read by others wait in their transaction for so long. */
    private static final long OWED_MILLIS = 100;
    /** Records for which nothing waits, such as samples that change nothing. */
    private static final long ROUTINE_MILLIS = 1_000;

    private final ProcessorContext<?, ?> context;
    private final boolean isTransactional;
    private final boolean isCommittedOften;
    private long last = Long.MIN_VALUE / 2;
    private long due = Long.MAX_VALUE;
    private boolean isWaitedFor;
    private Optional<Cancellable> next = Optional.empty();

    /** The pace of one task, from its start. */
    CommitPace(ProcessorContext<?, ?> context) {
        this.context = context;
        this.isTransactional = StreamsConfig.EXACTLY_ONCE_V2.equals(
                context.appConfigs().get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG));
        this.isCommittedOften =
                context.appConfigs().get(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG) instanceof Number interval
                        && interval.longValue() <= ROUTINE_MILLIS;
    }

    /**
     * Records that a decision was made.
     *
     * @param isUrgent whether demand waits for this decision
     */
    void decided(boolean isUrgent) {
        long apart = isUrgent ? URGENT_MILLIS : USUAL_MILLIS;
        long wait = Math.min(apart, last + apart - context.currentSystemTimeMs()); // the clock may have been set back
        if (wait <= 0) {
            commit();
        } else {
            isWaitedFor = true;
            commitWithin(wait);
        }
    }

    /** Whether a decision waits for the next commit. */
    boolean isWaitedFor() {
        return isWaitedFor;
    }

    /**
     * Records that something else was written for which others wait. They cannot read it before a commit if it is part
     * of a transaction. The log alone waits for the commit interval.
     */
    void owed() {
        if (isTransactional) {
            commitWithin(OWED_MILLIS);
        }
    }

    /**
     * Records that something was written that others read, but for which nothing waits. It goes with the regular commit
     * of all tasks of the thread: commits of its own would divide the log into more batches, which compress less.
     */
    void owedWithoutHurry() {
        if (isTransactional && !isCommittedOften) {
            commitWithin(ROUTINE_MILLIS);
        }
    }

    private void commitWithin(long wait) {
        long now = context.currentSystemTimeMs();
        if (now + wait < due) {
            next.ifPresent(Cancellable::cancel);
            due = now + wait;
            next = Optional.of(
                    context.schedule(Duration.ofMillis(wait), PunctuationType.WALL_CLOCK_TIME, any -> commit()));
        }
    }

    /** Commits without waiting. */
    void commit() {
        next.ifPresent(Cancellable::cancel);
        next = Optional.empty();
        due = Long.MAX_VALUE;
        isWaitedFor = false;
        last = context.currentSystemTimeMs();
        context.commit();
    }
}
