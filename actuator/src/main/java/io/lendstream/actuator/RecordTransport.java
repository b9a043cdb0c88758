package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/** Delivers records to the actuator and publishes its reports. All calls come from the actuator's own thread. */
interface RecordTransport extends AutoCloseable {
    /** Receives the records. */
    interface Routes {
        /**
         * Registers topics with a reader that has not started.
         *
         * @param to runs the actuator's methods, in record order
         */
        void on(RecordReader reader, Executor to);

        /** Called after all records that existed at the start have been delivered. */
        void joined(List<ActuationReport> reportsSince);
    }

    /**
     * Starts reading at saved positions, and waits until all existing records are read.
     *
     * @param stopped whether to stop waiting
     */
    void start(ActuatorState state, Routes routes, BooleanSupplier stopped);

    /** Delivers the records that have arrived, and waits up to a time for the first. */
    void poll(Duration patience);

    /** Accepts reports; they are sent after {@link #release}. */
    void publish(List<ActuationReport> reports);

    void publish(TrainingProgress progress);

    void publish(ActuatorDescription description);

    /** Allows sending: the published reports are saved on disk, or cannot be. */
    void release();

    /** Why nothing can be read or written now; empty without a problem. */
    Optional<String> trouble();

    /** The next decision to read, by {@code topic-partition}, after all delivered ones. */
    Map<String, Long> decisions();

    /** Published reports that may not be on the topic. */
    ReportOutbox.Contents unsent();

    /** The transactional ID to save for a restart; empty if none is needed. */
    Optional<String> writer();

    /**
     * Sends the remaining reports.
     *
     * @return false if some remain
     */
    boolean finish(Duration patience);

    @Override
    void close();
}
