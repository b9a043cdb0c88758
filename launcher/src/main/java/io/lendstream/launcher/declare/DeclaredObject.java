package io.lendstream.launcher.declare;

import io.lendstream.core.event.Event;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.schemas.serde.PoisonRecordException;
import java.time.Instant;
import java.util.Optional;

/**
 * An object that a file declares.
 *
 * @param place its spec in the file, for messages
 */
record DeclaredObject<T extends Event>(DeclaredKind<T> kind, ObjectName name, SpecValues values, ValuePlace place) {
    /** The object in messages, such as {@code job/bert-1}. */
    String shown() {
        return kind.shown(name.value());
    }

    /**
     * Its record, checked as the scheduler checks it.
     *
     * @param at when it is declared
     * @param before its newest record
     * @throws io.lendstream.launcher.cli.UserError if the scheduler would refuse the record
     */
    T record(Instant at, Optional<T> before) {
        try {
            T built = kind.build(name, at, values, before);
            return Codecs.decode(kind.topic(), Codecs.encode(kind.topic(), built), Strictness.REFUSE);
        } catch (IllegalArgumentException | PoisonRecordException e) {
            throw place.bad("%s: %s.".formatted(place.path(), e.getMessage()));
        }
    }
}
