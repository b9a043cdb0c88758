package io.lendstream.agent.kubernetes;

import java.io.IOException;

/** The API server has answered, but not with what it was asked for. */
final class ApiException extends IOException {
    private static final long serialVersionUID = 1L;
    /** What was asked for is of a time that the server does not remember any more. */
    private static final int GONE = 410;

    private final int status;

    ApiException(int status, String message) {
        super(message);
        this.status = status;
    }

    boolean isGone() {
        return status == GONE;
    }
}
