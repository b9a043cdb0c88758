package io.lendstream.scheduler;

/**
 * Reports that an output of a step is larger than a record may be. The broker was not asked and other domains are not
 * affected: the fault is in the domain.
 */
final class OversizeOutputException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OversizeOutputException(String what, int bytes, int mostBytes) {
        super(
                "%s has %d bytes, but the producer can send %d; raise kafka.producer.max.request.size and the topic's max.message.bytes"
                        .formatted(what, bytes, mostBytes));
    }
}
