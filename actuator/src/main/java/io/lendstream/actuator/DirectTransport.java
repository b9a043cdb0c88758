package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Reads and writes on the actuator's own thread: for accelerated runs, which need a broker anyway. */
final class DirectTransport implements RecordTransport {
    private final String actuator;
    private final RecordReader reader;
    private final RecordWriter writer;
    private final Supplier<RecordReader> reportReaders;
    private final Map<String, Long> reportsBefore = new TreeMap<>();

    /** @param reportReaders creates a reader of the actuator's own reports, which this class closes */
    DirectTransport(String actuator, RecordReader reader, RecordWriter writer, Supplier<RecordReader> reportReaders) {
        this.actuator = actuator;
        this.reader = reader;
        this.writer = writer;
        this.reportReaders = reportReaders;
    }

    @Override
    public void start(ActuatorState state, Routes routes, BooleanSupplier stopped) {
        routes.on(reader, Runnable::run);
        reader.start(state.decisions());
        OwnReports.readAll(reader, stopped);
        OwnReports own;
        try (RecordReader reports = reportReaders.get()) {
            own = OwnReports.read(reports, actuator, state.reports(), stopped);
        }
        reportsBefore.putAll(own.end());
        if (!stopped.getAsBoolean()) {
            routes.joined(own.reports());
        }
    }

    @Override
    public void poll(Duration patience) {
        reader.poll(patience);
    }

    @Override
    public void publish(List<ActuationReport> reports) {
        reports.forEach(report ->
                writer.write(TopicCatalogue.ACTUATION_REPORTS, report.domain().value(), report));
        writer.flush();
    }

    @Override
    public void publish(TrainingProgress progress) {
        writer.write(TopicCatalogue.TRAINING_PROGRESS, progress.job().value(), progress);
    }

    @Override
    public void publish(ActuatorDescription description) {
        writer.write(TopicCatalogue.ACTUATORS, description.domain() + "/" + description.actuator(), description);
        writer.flush();
    }

    @Override
    public void release() {
        // Published reports are already written.
    }

    @Override
    public Optional<String> trouble() {
        return reader.trouble();
    }

    @Override
    public Map<String, Long> decisions() {
        return reader.positions(TopicCatalogue.DECISIONS);
    }

    @Override
    public ReportOutbox.Contents unsent() {
        var reports = new TreeMap<>(reportsBefore);
        writer.positions().forEach((partition, end) -> {
            if (reportsBefore.containsKey(partition)) {
                reports.merge(partition, end, Math::max);
            }
        });
        return new ReportOutbox.Contents(List.of(), reports);
    }

    @Override
    public Optional<String> writer() {
        return Optional.empty();
    }

    @Override
    public boolean finish(Duration patience) {
        writer.flush();
        return true;
    }

    @Override
    public void close() {
        // Its clients are closed by their creator.
    }

    /** Whether all records up to the given positions have been read; positions of other topics are ignored. */
    boolean hasRead(Map<String, Long> positions) {
        return reader.hasRead(positions);
    }

    /** The exclusive end of the written records in each {@code topic-partition}. */
    Map<String, Long> written() {
        return writer.positions();
    }

    /** Writes the actuator's progress in an accelerated run. */
    void answer(Progress progress) {
        writer.write(TopicCatalogue.PROGRESS, progress.service(), progress);
        writer.flush();
    }
}
