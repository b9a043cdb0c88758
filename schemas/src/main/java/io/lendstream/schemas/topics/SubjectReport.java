package io.lendstream.schemas.topics;

import java.util.List;
import java.util.OptionalInt;

/**
 * The status of one of our subjects in a registry.
 *
 * @param id the schema's ID in the registry; empty if it is not registered
 * @param messages problems, and other notes
 */
public record SubjectReport(String subject, Status status, OptionalInt id, List<String> messages) {
    public SubjectReport {
        messages = List.copyOf(messages);
    }

    /** The status of a subject. */
    public enum Status {
        /** The subject has no version yet. */
        ABSENT(true),
        /** Our schema is one of the subject's versions. */
        PRESENT(true),
        /** The subject accepts our schema as a new version, or has just accepted it. */
        NEW_VERSION(true),
        /** Our schema is incompatible with one of the subject's versions; nothing was registered. */
        INCOMPATIBLE(false);

        private final boolean fine;

        Status(boolean fine) {
            this.fine = fine;
        }
    }

    public boolean fine() {
        return status.fine;
    }
}
