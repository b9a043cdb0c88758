package io.lendstream.actuator;

import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.UnreachableException;
import java.util.Optional;

/** Makes the clients by which an actuator reaches its broker. A client that has failed is closed, and made again. */
interface Clients {
    /** The broker's address, for messages. */
    String where();

    /**
     * Asks whether the broker answers, with the topics, and the registry too.
     *
     * @throws UnreachableException if not, with the reason and the way out
     */
    void check();

    /** A reader of records, not started; what cannot be read goes to the dead letters. */
    RecordReader reader();

    /** The same for a short look at the topic of reports. */
    RecordReader reportReader();

    /**
     * A writer of reports.
     *
     * @param transactionalId the name of its transactions; empty for a writer without transactions
     */
    RecordWriter writer(Optional<String> transactionalId);
}
