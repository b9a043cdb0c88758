package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.state.LogPosition;
import io.lendstream.service.text.Times;
import java.util.Optional;

/** Where the replay of a log began: with the log, or after a snapshot. */
final class ReplayStart {
    private ReplayStart() {}

    static String inWords(Optional<LogPosition> snapshot) {
        return snapshot.map(start ->
                        "from the snapshot of event %d (%s)".formatted(start.eventSequence(), Times.exact(start.now())))
                .orElse("from the beginning");
    }

    static void put(ObjectNode json, Optional<LogPosition> snapshot) {
        snapshot.ifPresent(start -> json.putObject("snapshot")
                .put("event", start.eventSequence())
                .put("at", start.now().toString()));
    }
}
