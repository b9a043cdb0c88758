package io.lendstream.scheduler;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.Progress;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/** Decodes input records, and separates permanent failures from temporary ones. */
final class InputReader {
    /** The largest record that is decoded, in bytes, as a property of the Streams application. */
    static final String MAX_RECORD_BYTES = "lendstream.max.record.bytes";

    /** Bytes that the log and the internal topic add to a record. */
    private static final int ROOM_FOR_ITS_PLACE = 48_576;

    private final TopicCatalogue topics;
    private final Deserializer<GenericRecord> whole;
    private final Deserializer<GenericRecord> domains;
    private final Patience patience;
    private final Duration maxClockSkew;
    private final long largestBytes;

    InputReader(TopicCatalogue topics, SerdeFactory serdes, Patience patience, Duration maxClockSkew) {
        this(topics, serdes, patience, maxClockSkew, largest(1 << 20, LetterBounds.DEFAULT));
    }

    /** @param largestBytes limit of key, value and headers together, from {@link #largest} */
    InputReader(
            TopicCatalogue topics, SerdeFactory serdes, Patience patience, Duration maxClockSkew, long largestBytes) {
        this.topics = topics;
        this.whole = serdes.reading(Codecs.readerSchemas(topics)).deserializer();
        this.domains = serdes.reading(Codecs.domainSchemas(topics)).deserializer();
        this.patience = patience;
        this.maxClockSkew = maxClockSkew;
        this.largestBytes = largestBytes;
    }

    /**
     * The largest record that can become an event, in bytes. The log must hold the event with its origin, within the
     * scheduler's producer limit.
     */
    static long largest(long maxRecordBytes, LetterBounds producer) {
        return Math.min(maxRecordBytes, Math.max(0, producer.requestBytes() - ROOM_FOR_ITS_PLACE));
    }

    /**
     * Decodes a record.
     *
     * @throws Poison if no later attempt could succeed
     * @throws RegistryException if the registry refuses the request, or does not answer in time
     */
    Input read(Topic<?> topic, byte[] value, Instant wallClock) throws Poison {
        checkSize(topic, null, value, new RecordHeaders());
        Input input = decode(topic, value);
        if (input.at().isAfter(wallClock.plus(maxClockSkew))) {
            throw Poison.fromTheFuture(
                    Duration.between(wallClock, input.at()),
                    "a record of %s has the time %s, more than max-clock-skew (%s) ahead of this machine's clock (%s); correct the writer's clock"
                            .formatted(topic, input.at(), maxClockSkew, wallClock));
        }
        return input;
    }

    /**
     * Decodes only the domain of a record. This can succeed for a record that cannot be decoded completely.
     *
     * @throws Poison if no later attempt could succeed
     * @throws RegistryException as {@link #read}
     */
    DomainId domain(Topic<?> topic, byte[] value) throws Poison {
        return insist(() -> Codecs.domain(topic, domains.deserialize(topics.name(topic), value)));
    }

    /**
     * Checks that a key is a valid name, for topics that other services write. A known node may be deleted by any
     * name it has.
     *
     * @throws Poison if the key is not a valid name
     */
    static void checkKey(Topic<?> topic, String key) throws Poison {
        if (Strictness.intake(topic) == Strictness.REFUSE) {
            try {
                Limits.name("the key of a record of " + topic, key);
            } catch (IllegalArgumentException e) {
                throw new Poison(Poison.Kind.UNUSABLE_KEY, e);
            }
        }
    }

    /**
     * Checks a record's size before it is decoded.
     *
     * @throws Poison if the decompressed record is larger than an event may be
     */
    void checkSize(Topic<?> topic, byte @Nullable [] key, byte @Nullable [] value, Headers headers) throws Poison {
        long bytes = LetterBounds.size(key, value, headers);
        if (bytes > largestBytes) {
            throw new Poison(
                    Poison.Kind.TOO_LARGE,
                    "a record of %s may have at most %d bytes of key, value and headers after decompression, but has %d; make it smaller, or raise max-record-bytes and kafka.producer.max.request.size"
                            .formatted(topic, largestBytes, bytes));
        }
    }

    private Input decode(Topic<?> topic, byte[] value) throws Poison {
        return insist(() -> {
            Object decoded =
                    Codecs.decode(topic, whole.deserialize(topics.name(topic), value), Strictness.intake(topic));
            return decoded instanceof Progress progress
                    ? new Input.GotOn(progress)
                    : new Input.Happened((Event) decoded);
        });
    }

    private <T> T insist(Supplier<T> reading) throws Poison {
        try {
            return patience.insist(reading);
        } catch (RuntimeException e) {
            if (PoisonRecordException.causes(e) || !InfrastructureFailure.isOfRegistry(e)) {
                throw new Poison(Poison.Kind.UNREADABLE, e);
            }
            throw e;
        }
    }
}
