package io.lendstream.agent.publish;

import java.util.List;

/**
 * Records that the broker has not acknowledged, oldest first. They are numbered 0, 1, 2 and so on. Beyond the size
 * limit the oldest are dropped. Safe for many threads.
 */
interface Backlog extends AutoCloseable {

    /** The oldest records, in order. */
    record Batch(long first, List<byte[]> records) {
        public Batch {
            records = List.copyOf(records);
        }

        boolean isEmpty() {
            return records.isEmpty();
        }
    }

    void append(byte[] record);

    /** The oldest records, up to a number; they stay in the backlog. */
    Batch oldest(int most);

    /** Removes all records before a number: the broker has them. */
    void deliveredBefore(long number);

    /** How many wait. */
    long waiting();

    /** Size of the records, in bytes. */
    long bytes();

    /** How many records were lost since it was opened, for lack of space or because they could not be read back. */
    long lost();

    @Override
    void close();
}
