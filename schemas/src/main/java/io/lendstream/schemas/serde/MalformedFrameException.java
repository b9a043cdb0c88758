package io.lendstream.schemas.serde;

/** Too short for the frame, or not framed at all. */
public final class MalformedFrameException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    MalformedFrameException(String message) {
        super(message, null);
    }
}
