package io.lendstream.schemas.serde;

/** Reports a value that is too short for the frame, or has no frame. */
public final class MalformedFrameException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    MalformedFrameException(String message) {
        super(message, null);
    }
}
