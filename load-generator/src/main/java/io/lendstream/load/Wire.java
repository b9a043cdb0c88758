package io.lendstream.load;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Progress;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The topics of an accelerated run. */
interface Wire {
    /** Writes events to their topics. */
    void publish(List<Event> events);

    /** Waits until all records are written, and returns the end offsets, exclusive, by {@code topic-partition}. */
    Map<String, Long> flush();

    void say(Progress progress);

    /** New nodes, decisions, reports, leases and progress of the domain, each topic in order; waits for the first. */
    List<Object> poll(Duration patience);

    /** Whether decisions and reports up to these end offsets have been polled; other topics do not count. */
    boolean hasRead(Map<String, Long> positions);
}
