package io.lendstream.agent.kubernetes;

import java.io.IOException;

/** Reports that the API server answered with an error. */
final class ApiException extends IOException {
    private static final long serialVersionUID = 1L;
    /** Whether the requested resource version is too old for the server. */
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
