package io.lendstream.service.kafka;

import io.lendstream.schemas.serde.PoisonRecordException;

/** A record stamped further ahead than clocks differ: it would hold event time up, so it is put aside. */
public final class FutureRecordException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    FutureRecordException(String message) {
        super(message, null);
    }
}
