package io.lendstream.scheduler;

import java.time.Duration;
import java.util.Optional;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/**
 * When what was decided is committed. A commit takes some milliseconds in which nothing else happens, so that one for each of many
 * decisions would hold up those that follow. What demand waits for is committed at once, unless there has just been a commit;
 * everything else waits until a few have come together, or a commit comes for another reason.
 */
final class CommitPace {
    private static final long URGENT_MILLIS = 5;
    private static final long USUAL_MILLIS = 25;

    private final ProcessorContext<?, ?> context;
    private long last = Long.MIN_VALUE / 2;
    private long due = Long.MAX_VALUE;
    private Optional<Cancellable> next = Optional.empty();

    /** Of one task, from its start. */
    CommitPace(ProcessorContext<?, ?> context) {
        this.context = context;
    }

    /**
     * Something was decided.
     *
     * @param isUrgent whether demand waits for it
     */
    void decided(boolean isUrgent) {
        long now = context.currentSystemTimeMs();
        long apart = isUrgent ? URGENT_MILLIS : USUAL_MILLIS;
        long wait = Math.min(apart, last + apart - now); // the clock may have been set back
        if (wait <= 0) {
            commit();
        } else if (now + wait < due) {
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
        last = context.currentSystemTimeMs();
        context.commit();
    }
}
