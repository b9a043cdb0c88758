package io.lendstream.service.kafka;

import io.lendstream.schemas.serde.PoisonRecordException;

/** Rejects a record too far in the future: it would stop the progress of event time. */
public final class FutureRecordException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    FutureRecordException(String message) {
        super(message, null);
    }
}
