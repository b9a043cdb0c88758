package io.lendstream.agent.publish;

import java.util.List;

/**
 * Records that the broker has not got yet, oldest first, each with a number of its own: 0, 1, 2, ... Beyond its bound the oldest go.
 * For any number of threads.
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

    /** Up to so many of the oldest; they stay. */
    Batch oldest(int most);

    /** Lets all before a number go: the broker has them. */
    void deliveredBefore(long number);

    /** How many wait. */
    long waiting();

    /** How many bytes they take. */
    long bytes();

    /** How many were lost since it was opened, for want of room or since they could not be read back. */
    long lost();

    @Override
    void close();
}
