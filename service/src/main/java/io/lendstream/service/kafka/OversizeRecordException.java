package io.lendstream.service.kafka;

import io.lendstream.schemas.serde.PoisonRecordException;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Rejects a record that is larger after decompression than a service decodes. */
public final class OversizeRecordException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    private OversizeRecordException(String message) {
        super(message, null);
    }

    /**
     * Checks a record before it is decoded.
     *
     * @param largestBytes limit of key, value and headers together, after decompression
     * @throws OversizeRecordException if the record is larger
     */
    public static void check(ConsumerRecord<byte[], byte[]> record, long largestBytes) {
        long bytes = LetterBounds.size(record.key(), record.value(), record.headers());
        if (bytes > largestBytes) {
            throw new OversizeRecordException(
                    "the record has %d bytes of key, value and headers after decompression, but max-record-bytes is %d; make the record smaller, or raise the setting"
                            .formatted(bytes, largestBytes));
        }
    }
}
