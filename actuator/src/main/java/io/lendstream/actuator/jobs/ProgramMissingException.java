package io.lendstream.actuator.jobs;

import java.io.IOException;

/** Reports that a program cannot be run on this node, whatever its GPUs; the message says why, with the way out. */
final class ProgramMissingException extends IOException {
    private static final long serialVersionUID = 1;

    ProgramMissingException(String message) {
        super(message);
    }
}
