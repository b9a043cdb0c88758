package io.lendstream.actuator;

import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Executor;

/** The part of the actuator's loop that depends on the clock. All calls come from the actuator's own thread. */
interface Turns {
    /** The clock in use. */
    TimeMode mode();

    /** Continues after the last turn of an earlier run; called before any topic is read. */
    void restore(ActuatorState state);

    /**
     * Registers the topics of this mode with a reader that has not started.
     *
     * @param to runs the methods that handle records
     */
    void on(RecordReader reader, Executor to);

    /** Resumes unfinished work of an earlier run; called after the topics are read, or without them. */
    void resume();

    /**
     * How long a turn may wait for a first record.
     *
     * @param most the longest wait if nothing else is due
     */
    Duration patience(Duration most);

    /** Processes decisions, executes due work, and publishes reports. */
    void turn();

    /** The last virtual time that was answered; empty with the wall clock. */
    Optional<Instant> answered();

    /** Closes the driver; jobs and replicas continue to run. */
    void close();
}
