package io.lendstream.actuator;

import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.UnreachableException;
import java.util.Optional;

/** Creates the actuator's Kafka clients. A failed client is closed and created again. */
interface Clients {
    /** The broker's address, for messages. */
    String where();

    /**
     * Checks that the broker answers, has the topics, and that the registry answers.
     *
     * @throws UnreachableException if one of them fails, with the reason and the way out
     */
    void check();

    /** A reader of records, not started; undecodable records go to the dead letters. */
    RecordReader reader();

    /** A reader for a short look at the topic of reports. */
    RecordReader reportReader();

    /**
     * A writer of reports.
     *
     * @param transactionalId its transactional ID; empty for a writer without transactions
     */
    RecordWriter writer(Optional<String> transactionalId);
}
