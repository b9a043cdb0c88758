package io.lendstream.scheduler;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;

/** Metrics of state restoration from changelogs: records left, records restored, and time taken. */
final class RestoreMetrics implements StateRestoreListener {
    private final Map<TopicPartition, Progress> running = new ConcurrentHashMap<>();
    private final Counter records;
    private final Timer time;

    private record Progress(long beganNanos, long left) {}

    RestoreMetrics(MeterRegistry registry) {
        records = registry.counter("lendstream.restore.records");
        time = registry.timer("lendstream.restore");
        registry.gauge(
                "lendstream.restore.left",
                running,
                all -> all.values().stream().mapToLong(Progress::left).sum());
    }

    @Override
    public void onRestoreStart(TopicPartition partition, String store, long start, long end) {
        running.put(partition, new Progress(System.nanoTime(), end - start));
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long batchEnd, long restored) {
        records.increment((double) restored);
        running.computeIfPresent(
                partition,
                (same, progress) -> new Progress(progress.beganNanos, Math.max(0, progress.left - restored)));
    }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long total) {
        over(partition);
    }

    @Override
    public void onRestoreSuspended(TopicPartition partition, String store, long total) {
        over(partition);
    }

    private void over(TopicPartition partition) {
        Progress progress = running.remove(partition);
        if (progress != null) {
            time.record(Duration.ofNanos(System.nanoTime() - progress.beganNanos));
        }
    }
}
