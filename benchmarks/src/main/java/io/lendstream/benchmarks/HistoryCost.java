package io.lendstream.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.SnapshotPart;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.snapshot.SnapshotShelf;
import io.lendstream.schemas.snapshot.SnapshotWriting;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.EventGist;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.TimestampType;

/**
 * The cost of a domain's history: bytes of the log of 1,000 GPUs that are sampled once a second, the time to explain a
 * decision after the nearest snapshot, and the time for which a snapshot holds up the scheduler.
 */
final class HistoryCost implements Bench {
    private static final int GPUS = 1_000;
    private static final int JOBS = 120;
    private static final int LARGE_GPUS = 10_000;
    private static final int LARGE_JOBS = 2_000;
    private static final int LARGE_SECONDS = 61;
    /** The default of {@code scheduler.snapshot-events}. */
    private static final int SNAPSHOT_EVENTS = 5_000;

    /** The default of {@code scheduler.hold-samples}. */
    private static final Duration HOLD = Duration.ofSeconds(20);
    /** Commits of the scheduler: its interval, and the least times before those that others wait for. */
    private static final double INTERVAL_MILLIS = 1000;

    private static final double OWED_MILLIS = 100;
    private static final double DECIDED_MILLIS = 25;
    private static final double DEMANDED_MILLIS = 5;
    /** The partitions of topics where they are several. */
    private static final int PARTITIONS = 4;
    /** A transaction's marker in each partition that it wrote to: a batch with one control record. */
    private static final int MARKER_BYTES = 78;

    /** What is declared, and the first samples, do not come every ten minutes. */
    private static final int WARM_UP_SECONDS = 60;

    private static final int SECONDS = 600;
    private static final double SECONDS_OF_DAY = Duration.ofDays(1).toSeconds();
    private static final double DAYS = SECONDS / SECONDS_OF_DAY;
    private static final double MEGA = 1e6;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Frame of a value: a zero byte and the number of the schema. */
    private static final int FRAME = 5;

    private final Map<String, Double> metrics = new LinkedHashMap<>();
    private final Map<String, Double> bounds = new LinkedHashMap<>();

    @Override
    public BenchReport measure() {
        bounds.put("log_mb_per_day", 300.0);
        bounds.put("log_apart_mb_per_day", 300.0);
        bounds.put("explain_s", 5.0);
        HistoryOfDomain domain = volumes();
        snapshots("1k", domain);
        weighing("1k", domain);
        explain();
        HistoryOfDomain large = new HistoryOfDomain(LARGE_GPUS, LARGE_JOBS, HOLD, (event, step) -> {});
        passes(large, LARGE_SECONDS);
        snapshots("10k", large);
        weighing("10k", large);
        double perDay = metrics.getOrDefault("events_per_s", 0.0) * SECONDS_OF_DAY / SNAPSHOT_EVENTS;
        metrics.put("snapshots_mb_per_day", perDay * metrics.getOrDefault("snapshot_1k_mb", 0.0));
        metrics.forEach((name, figure) -> System.out.printf("%-28s %12.3f%n", name, figure));
        return new BenchReport(metrics, bounds, Map.of(), StatedBounds.above(metrics, bounds));
    }

    /** The sizes of the log, the decisions and the kept reasons. */
    private HistoryOfDomain volumes() {
        Map<String, Long> bytesByKind = new TreeMap<>();
        List<Volume> logs = logs();
        Volume decisions = new Volume("none", Compression.NONE, false);
        Volume reasons = new Volume("lz4", Compression.lz4().build(), false);
        List<Logged> second = new ArrayList<>();
        long[] events = {0};
        boolean[] isMeasured = {false};
        HistoryOfDomain domain = new HistoryOfDomain(GPUS, JOBS, HOLD, (event, step) -> {
            if (!isMeasured[0]) {
                return;
            }
            events[0]++;
            byte[] value = bytes(TopicCatalogue.DOMAIN_EVENTS, event);
            second.add(new Logged(event, ByteBuffer.wrap(value), step));
            bytesByKind.merge(event.event().getClass().getSimpleName(), (long) value.length, Long::sum);
            for (Decision decision : step.decisions()) {
                decisions.add(TopicCatalogue.DECISIONS, event, bytes(TopicCatalogue.DECISIONS, decision));
                if (decision.action().asRenew().isEmpty()) {
                    reasons.add(TopicCatalogue.REASONS, event, bytes(TopicCatalogue.REASONS, kept(decision, event)));
                }
            }
        });
        passes(domain, WARM_UP_SECONDS);
        isMeasured[0] = true;
        for (int i = 0; i < SECONDS; i++) {
            domain.second();
            logs.forEach(log -> log.addSecond(second));
            second.clear();
        }
        metrics.put("events_per_s", events[0] / (double) SECONDS);
        put(logs);
        put("decisions", decisions);
        put("reasons", reasons);
        bytesByKind.forEach(HistoryCost::show);
        return domain;
    }

    private static List<Volume> logs() {
        return List.of(
                new Volume("none", Compression.NONE, false),
                new Volume("lz4", Compression.lz4().build(), false),
                new Volume("zstd", Compression.zstd().build(), false),
                new Volume("apart", Compression.lz4().build(), true));
    }

    private static void show(String kind, long bytes) {
        System.out.printf("%-22s %7.1f MB a day, not compressed%n", kind, bytes / MEGA / DAYS);
    }

    private static void passes(HistoryOfDomain domain, int seconds) {
        for (int i = 0; i < seconds; i++) {
            domain.second();
        }
    }

    /** An event of the log with the step that it led to. */
    private record Logged(DomainEvent event, ByteBuffer value, Step step) {
        /** When a commit is due after it, as the scheduler's {@code CommitPace} has it; in milliseconds. */
        double due(double now, double committed, boolean isApart) {
            double due = due(now, committed);
            return isApart && isAwaitedElsewhere() ? Math.min(due, now + OWED_MILLIS) : due;
        }

        /** A rate, or a sample that changes something, in another partition than that of the domain. */
        private boolean isAwaitedElsewhere() {
            Optional<String> key = event.event()
                    .asRate()
                    .map(rate -> rate.service().value())
                    .or(() -> event.event()
                            .asTelemetry()
                            .map(sample -> sample.nodeId().value()));
            return key.filter(name -> Math.floorMod(name.hashCode(), PARTITIONS) > 0)
                    .isPresent();
        }

        private double due(double now, double committed) {
            if (!step.decisions().isEmpty()) {
                double apart = event.event().asRate().isPresent() ? DEMANDED_MILLIS : DECIDED_MILLIS;
                return Math.max(now, committed + apart);
            }
            return step.changed().owners().isEmpty() ? committed + INTERVAL_MILLIS : now + OWED_MILLIS;
        }
    }

    private void put(List<Volume> logs) {
        logs.forEach(log -> metrics.put("log_mb_per_day_" + log.name, log.bytes() / MEGA / DAYS));
        metrics.put("log_mb_per_day", metrics.getOrDefault("log_mb_per_day_lz4", 0.0));
        metrics.put("log_apart_mb_per_day", metrics.getOrDefault("log_mb_per_day_apart", 0.0));
    }

    private void put(String name, Volume volume) {
        metrics.put(name + "_mb_per_day", volume.bytes() / MEGA / DAYS);
        metrics.put(name + "_per_day", volume.records / DAYS);
    }

    /** The sizes of batches as the scheduler's producer sends them. */
    private static final class Volume {
        private static final int BATCH_BYTES = 128 << 10;

        private final String name;
        private final Compression compression;
        private final boolean isApart;
        private double millis;
        private double committed;
        private double due = INTERVAL_MILLIS;
        private long done;
        private long records;
        private Optional<MemoryRecordsBuilder> open = Optional.empty();

        /**
         * @param isApart whether nodes, services and jobs are in other partitions than their domain, all of one task's
         *     thread: then rates are committed for the internal topic too
         */
        Volume(String name, Compression compression, boolean isApart) {
            this.name = name;
            this.compression = compression;
            this.isApart = isApart;
        }

        /** The events of a second, which arrive evenly. A commit sends what lingers, so that the batch ends. */
        void addSecond(List<Logged> second) {
            for (int i = 0; i < second.size(); i++) {
                Logged each = second.get(i);
                double now = millis + 1000.0 * i / second.size();
                commitUntil(now);
                add(TopicCatalogue.DOMAIN_EVENTS, each.event(), each.value().array());
                due = Math.min(due, each.due(now, committed, isApart));
                commitUntil(now);
            }
            millis += 1000;
            commitUntil(millis);
        }

        private void commitUntil(double now) {
            if (now >= due) {
                done += open.isPresent() ? MARKER_BYTES : 0;
                close();
                committed = due;
                due = committed + INTERVAL_MILLIS;
            }
        }

        void add(Topic<?> topic, DomainEvent cause, byte[] value) {
            Header[] headers = new CloudEventHeaders(
                            cause.domain() + "/" + cause.sequence(),
                            "/lendstream/scheduler",
                            "io.lendstream." + topic.recordName(),
                            cause.at())
                    .toHeaders()
                    .toArray();
            byte[] key = cause.domain().value().getBytes(UTF_8);
            byte[] framed = new byte[FRAME + value.length];
            System.arraycopy(value, 0, framed, FRAME, value.length);
            if (open.isEmpty() || !open.get().hasRoomFor(cause.at().toEpochMilli(), key, framed, headers)) {
                close();
                open = Optional.of(MemoryRecords.builder(
                        ByteBuffer.allocate(BATCH_BYTES), compression, TimestampType.CREATE_TIME, 0L));
            }
            records++;
            open.orElseThrow().append(cause.at().toEpochMilli(), key, framed, headers);
        }

        private void close() {
            open.ifPresent(batch -> done += batch.build().sizeInBytes());
            open = Optional.empty();
        }

        long bytes() {
            close();
            return done;
        }
    }

    private static <T> byte[] bytes(Topic<T> topic, T value) {
        return AvroBytes.write(Codecs.encode(topic, value));
    }

    /** A record without alternatives, and with each event that led to the decision as long as the last. */
    private static KeptReason kept(Decision decision, DomainEvent event) {
        List<KeptInput> inputs = decision.reason().inputs().stream()
                .map(input -> new KeptInput(
                        input, event.at(), EventGist.kind(event.event()), event.origin(), EventGist.of(event.event())))
                .toList();
        return new KeptReason(decision.id(), Optional.of(decision), List.of(), inputs);
    }

    /** The time on a core to weigh the sizes of one job, which the scheduler does for a few decisions of a plan. */
    private void weighing(String name, HistoryOfDomain domain) {
        ClusterView view = domain.planned();
        List<Double> millis = new ArrayList<>();
        view.open().stream().limit(40).forEach(job -> {
            long begun = THREADS.getCurrentThreadCpuTime();
            domain.scheduler().policy().sizes(view, job.job());
            millis.add((THREADS.getCurrentThreadCpuTime() - begun) / 1e6);
        });
        Collections.sort(millis);
        metrics.put("weighing_%s_median_cpu_ms".formatted(name), millis.get(millis.size() / 2));
        metrics.put("weighing_%s_longest_cpu_ms".formatted(name), millis.get(millis.size() - 1));
    }

    /** The times on a core of a snapshot's parts, of which the scheduler writes one with each event. */
    private void snapshots(String name, HistoryOfDomain domain) {
        double[] longest = new double[5];
        double[] whole = new double[5];
        long bytes = 0;
        int parts = 0;
        for (int run = -5; run < longest.length; run++) {
            SnapshotWriting writing = new SnapshotWriting(
                    domain.state(), domain.scheduler().inOffice(domain.state()), "bench", SnapshotWriting.PART_BYTES);
            bytes = 0;
            parts = 0;
            while (writing.hasNext()) {
                long begun = THREADS.getCurrentThreadCpuTime();
                bytes += bytes(TopicCatalogue.SNAPSHOTS, writing.next()).length;
                double millis = (THREADS.getCurrentThreadCpuTime() - begun) / 1e6;
                parts++;
                if (run >= 0) {
                    longest[run] = Math.max(longest[run], millis);
                    whole[run] += millis;
                }
            }
        }
        Arrays.sort(longest);
        Arrays.sort(whole);
        metrics.put("snapshot_%s_longest_part_cpu_ms".formatted(name), longest[longest.length / 2]);
        metrics.put("snapshot_%s_all_parts_cpu_ms".formatted(name), whole[whole.length / 2]);
        metrics.put("snapshot_%s_mb".formatted(name), bytes / MEGA);
        metrics.put("snapshot_%s_parts".formatted(name), (double) parts);
    }

    /** Explains the last decision before a second snapshot would be due: the longest replay after a snapshot. */
    private void explain() {
        List<SnapshotPart> parts = new ArrayList<>();
        List<byte[]> after = new ArrayList<>();
        List<Decision> made = new ArrayList<>();
        HistoryOfDomain domain = new HistoryOfDomain(GPUS, JOBS, HOLD, (event, step) -> {
            if (!parts.isEmpty() && after.size() < SNAPSHOT_EVENTS) {
                after.add(bytes(TopicCatalogue.DOMAIN_EVENTS, event));
                made.addAll(step.decisions());
            }
        });
        passes(domain, 60);
        new SnapshotWriting(
                        domain.state(),
                        domain.scheduler().inOffice(domain.state()),
                        "bench",
                        SnapshotWriting.PART_BYTES)
                .forEachRemaining(parts::add);
        while (after.size() < SNAPSHOT_EVENTS) {
            domain.second();
        }
        explain(made.get(made.size() - 1), parts, after);
    }

    private void explain(Decision decision, List<SnapshotPart> parts, List<byte[]> log) {
        long begun = System.nanoTime();
        long begunOnCore = THREADS.getCurrentThreadCpuTime();
        SnapshotShelf shelf = new SnapshotShelf();
        parts.forEach(shelf::take);
        Snapshot start = shelf.nearest(decision.id().domain(), Long.MAX_VALUE, System.err::println)
                .orElseThrow();
        Explainer explainer = new Explainer(decision).after(start);
        Schema schema = Codecs.schema(TopicCatalogue.DOMAIN_EVENTS);
        int replayed = 0;
        for (byte[] event : log) {
            try {
                explainer.take(Codecs.decode(TopicCatalogue.DOMAIN_EVENTS, AvroBytes.read(event, schema, schema)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            replayed++;
            if (explainer.isDone()) {
                break;
            }
        }
        Explanation explanation = explainer.explanation();
        double seconds = (System.nanoTime() - begun) / 1e9;
        if (!explanation.isAsRecorded()) {
            throw new IllegalStateException("the replay differs: " + explanation.differences());
        }
        metrics.put("explain_s", seconds);
        metrics.put("explain_cpu_s", (THREADS.getCurrentThreadCpuTime() - begunOnCore) / 1e9);
        metrics.put("explain_events", (double) replayed);
    }
}
