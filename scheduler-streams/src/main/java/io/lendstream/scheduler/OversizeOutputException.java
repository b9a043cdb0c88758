package io.lendstream.scheduler;

/**
 * What a step leads to is larger than a record may be. The broker has not been asked, and others are not concerned: the fault is in
 * the domain.
 */
final class OversizeOutputException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OversizeOutputException(String what, int bytes, int mostBytes) {
        super(
                "%s has %d bytes, but the producer can send %d; raise kafka.producer.max.request.size and the topic's max.message.bytes"
                        .formatted(what, bytes, mostBytes));
    }
}
