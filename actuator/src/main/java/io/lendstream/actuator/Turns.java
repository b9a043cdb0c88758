package io.lendstream.actuator;

import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Executor;

/** The part of an actuator's loop that depends on the time it goes by. All calls come from the actuator's own thread. */
interface Turns {
    /** The time it goes by. */
    TimeMode mode();

    /** Goes on after the last turn of an earlier run; before any topic is read. */
    void restore(ActuatorState state);

    /**
     * Names the topics that only this mode reads to a reader that is not started yet.
     *
     * @param to runs the methods that take records
     */
    void on(RecordReader reader, Executor to);

    /** Resumes what an earlier run left unfinished; after the topics are read, or without them. */
    void resume();

    /**
     * The time that a turn may wait for a first record.
     *
     * @param most what it may wait where nothing else is due
     */
    Duration patience(Duration most);

    /** Takes decisions up, carries out what is due, and publishes reports. */
    void turn();

    /** The time of an accelerated run that was answered last; empty by the machine's clock. */
    Optional<Instant> answered();

    /** Ends the connection to what carries decisions out; jobs and replicas continue to run. */
    void close();
}
