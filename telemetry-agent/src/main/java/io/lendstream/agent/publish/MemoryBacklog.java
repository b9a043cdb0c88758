package io.lendstream.agent.publish;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/** A backlog in memory, which ends with the process. */
final class MemoryBacklog implements Backlog {
    private final long bound;
    private final Deque<byte[]> records = new ArrayDeque<>();
    private long first;
    private long bytes;
    private long lost;

    MemoryBacklog(long bound) {
        this.bound = bound;
    }

    @Override
    public synchronized void append(byte[] record) {
        records.add(record);
        bytes += record.length;
        while (bytes > bound && records.size() > 1) {
            removeOldest();
            lost++;
        }
    }

    @Override
    public synchronized Batch oldest(int most) {
        List<byte[]> some = new ArrayList<>();
        for (Iterator<byte[]> all = records.iterator(); all.hasNext() && some.size() < most; ) {
            some.add(all.next());
        }
        return new Batch(first, some);
    }

    @Override
    public synchronized void deliveredBefore(long number) {
        while (first < number && !records.isEmpty()) {
            removeOldest();
        }
    }

    private void removeOldest() {
        bytes -= records.remove().length;
        first++;
    }

    @Override
    public synchronized long waiting() {
        return records.size();
    }

    @Override
    public synchronized long bytes() {
        return bytes;
    }

    @Override
    public synchronized long lost() {
        return lost;
    }

    @Override
    public void close() {}
}
