package io.lendstream.simulator.published;

import java.util.Map;
import java.util.TreeMap;

/** Seconds in which something is known to come. */
final class EventSeconds {
    static final int NEVER = Integer.MAX_VALUE;

    /** Whether a second is an event of its own; what comes in others waits for the next that is. */
    private final TreeMap<Integer, Boolean> seconds = new TreeMap<>();

    void add(int second, boolean isEvent) {
        seconds.put(second, isEvent);
    }

    void addIfAbsent(int second) {
        seconds.putIfAbsent(second, true);
    }

    /** The first event after a second and before a limit; the limit if there is none. */
    int after(int second, int limit) {
        Map.Entry<Integer, Boolean> next = seconds.higherEntry(second);
        while (next != null && next.getKey() < limit) {
            if (next.getValue()) {
                return next.getKey();
            }
            next = seconds.higherEntry(next.getKey());
        }
        return limit;
    }
}
