package io.lendstream.scheduler;

import io.lendstream.core.id.DomainId;
import java.util.Optional;

/** The kind of a store entry; part of its key. */
enum EntryKind {
    HEADER,
    NODE,
    SAMPLE,
    GPU,
    SERVICE,
    SOURCE,
    JOB,
    QUEUE,
    ACTUATOR,
    APPLICATION,
    ADVICE,
    POSITION,
    PROGRESS,
    FIRST_WINDOW;

    /** Separates the parts of a key. */
    static final char PART = '\u0000';

    /** The key of an entry of this kind. */
    String key(DomainId domain, String name) {
        return domain.value() + PART + name() + PART + name;
    }

    /** The kind that a key contains. */
    static Optional<EntryKind> of(String code) {
        for (EntryKind kind : values()) {
            if (kind.name().equals(code)) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }
}
