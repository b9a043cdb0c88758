package io.lendstream.load;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Progress;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The topics, as the environment sees them. */
interface Wire {
    /** Writes events to their topics. */
    void publish(List<Event> events);

    /** Waits until all is written; end offsets, exclusive, by {@code topic-partition}. */
    Map<String, Long> flush();

    void say(Progress progress);

    /** Nodes, decisions, actuation reports and progress of its domain that came in, each topic in order; waits for the first. */
    List<Object> poll(Duration patience);

    /** Whether decisions and reports up to these end offsets have been polled. Topics it does not read do not count. */
    boolean hasRead(Map<String, Long> positions);
}
