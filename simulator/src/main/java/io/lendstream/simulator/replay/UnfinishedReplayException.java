package io.lendstream.simulator.replay;

import java.io.Serial;

/** A replay that is given up, because its jobs are not over long after the last arrival. The message is for users. */
public final class UnfinishedReplayException extends IllegalStateException {

    @Serial
    private static final long serialVersionUID = 1L;

    UnfinishedReplayException(String message) {
        super(message);
    }
}
