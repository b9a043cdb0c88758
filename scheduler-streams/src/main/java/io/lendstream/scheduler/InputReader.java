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

/** Reads the bytes of input topics, and tells what can never be read from what cannot be read just now. */
final class InputReader {
    /** The largest record that is decoded, in bytes, among the properties of the Streams application. */
    static final String MAX_RECORD_BYTES = "lendstream.max.record.bytes";

    /** What the log and the internal topic add to a record, in bytes. */
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

    /** @param largestBytes of key, value and headers together, as {@link #largest} gives it */
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
     * The largest record that can become an event, in bytes: the log has to hold the event together with its place in it, within
     * what the scheduler's producer sends at a time.
     */
    static long largest(long maxRecordBytes, LetterBounds producer) {
        return Math.min(maxRecordBytes, Math.max(0, producer.requestBytes() - ROOM_FOR_ITS_PLACE));
    }

    /**
     * What a record says.
     *
     * @throws Poison where no later try could read it
     * @throws RegistryException where the registry refuses to answer, or does not for longer than anybody's patience
     */
    Input read(Topic<?> topic, byte[] value, Instant wallClock) throws Poison {
        checkSize(topic, null, value, new RecordHeaders());
        Input input = decode(topic, value);
        if (input.at().isAfter(wallClock.plus(maxClockSkew))) {
            throw Poison.fromTheFuture(
                    Duration.between(wallClock, input.at()),
                    "a record of %s is of %s, more than max-clock-skew (%s) ahead of this clock's %s; set the clock of whoever wrote it"
                            .formatted(topic, input.at(), maxClockSkew, wallClock));
        }
        return input;
    }

    /**
     * The domain that a record is for; the rest of it is passed over. Not every record of which the domain can be read
     * can be read whole.
     *
     * @throws Poison where no later try could read it
     * @throws RegistryException as {@link #read}
     */
    DomainId domain(Topic<?> topic, byte[] value) throws Poison {
        return insist(() -> Codecs.domain(topic, domains.deserialize(topics.name(topic), value)));
    }

    /**
     * Checks that a key can be a name, where the topic is written by others. A node that is known may leave by whatever name it has.
     *
     * @throws Poison where it cannot
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
     * Checks a record before it is decoded.
     *
     * @throws Poison where it is larger, decompressed, than an event may be
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
