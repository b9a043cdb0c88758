package io.lendstream.scheduler;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.Progress;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.codec.Strictness;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Deserializer;

/** Reads the bytes of input topics, and tells what can never be read from what cannot be read just now. */
final class InputReader {
    /** The log has to hold the event together with its place in it, within a broker's usual limit of a mebibyte. */
    private static final int LARGEST_BYTES = 1_000_000;

    private final TopicCatalogue topics;
    private final Deserializer<GenericRecord> whole;
    private final Deserializer<GenericRecord> domains;
    private final Patience patience;
    private final Duration maxClockSkew;

    InputReader(TopicCatalogue topics, SerdeFactory serdes, Patience patience, Duration maxClockSkew) {
        this.topics = topics;
        this.whole = serdes.reading(Codecs.readerSchemas(topics)).deserializer();
        this.domains = serdes.reading(Codecs.domainSchemas(topics)).deserializer();
        this.patience = patience;
        this.maxClockSkew = maxClockSkew;
    }

    /**
     * What a record says.
     *
     * @throws Poison where no later try could read it
     * @throws RegistryException where the registry refuses to answer, or does not for longer than anybody's patience
     */
    Input read(Topic<?> topic, byte[] value, Instant wallClock) throws Poison {
        checkLength(topic, value);
        Input input = decode(topic, value);
        if (input.at().isAfter(wallClock.plus(maxClockSkew))) {
            throw new Poison(
                    Poison.Kind.FROM_THE_FUTURE,
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
        checkLength(topic, value);
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

    private static void checkLength(Topic<?> topic, byte[] value) throws Poison {
        if (value.length > LARGEST_BYTES) {
            throw new Poison(
                    Poison.Kind.TOO_LARGE,
                    "a record of %s may have at most %d bytes, but has %d"
                            .formatted(topic, LARGEST_BYTES, value.length));
        }
    }

    private Input decode(Topic<?> topic, byte[] value) throws Poison {
        return insist(() -> {
            Object decoded = Codecs.decode(
                    topic, whole.deserialize(topics.name(topic), value), Strictness.intake(topic));
            return decoded instanceof Progress progress
                    ? new Input.GotOn(progress)
                    : new Input.Happened((Event) decoded);
        });
    }

    private <T> T insist(Supplier<T> reading) throws Poison {
        try {
            return patience.insist(reading);
        } catch (RuntimeException e) {
            if (PoisonRecordException.causes(e) || !saysNothingOfTheRecord(e)) {
                throw new Poison(Poison.Kind.UNREADABLE, e);
            }
            throw e;
        }
    }

    /** Also for serializers other than ours, which wrap what the network threw. */
    private static boolean saysNothingOfTheRecord(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof RegistryException
                    || at instanceof SocketException
                    || at instanceof SocketTimeoutException
                    || at instanceof UnknownHostException
                    || at instanceof HttpTimeoutException) {
                return true;
            }
        }
        return false;
    }
}
