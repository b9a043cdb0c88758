package io.lendstream.forecaster;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiter;

/** Lets so many records pass, each a while after the last, and then none. */
final class Gate implements RateLimiter<NumberSequenceSplit> {
    private final Duration between;
    private long left;

    Gate(long left) {
        this(left, Duration.ZERO);
    }

    Gate(long left, Duration between) {
        this.left = left;
        this.between = between;
    }

    @Override
    public CompletionStage<Void> acquire(int records) {
        left -= records;
        if (left < 0) {
            return new CompletableFuture<>();
        }
        return between.isZero()
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.runAsync(
                        () -> {}, CompletableFuture.delayedExecutor(between.toMillis(), TimeUnit.MILLISECONDS));
    }
}
