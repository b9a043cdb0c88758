package io.lendstream.schemas.topics;

import java.util.List;
import java.util.OptionalInt;

/**
 * How a subject of ours stands in a registry.
 *
 * @param id the schema's id there, where it is registered
 * @param messages what is in the way, or worth knowing
 */
public record SubjectReport(String subject, Status status, OptionalInt id, List<String> messages) {
    public SubjectReport {
        messages = List.copyOf(messages);
    }

    /** What there is to say about a subject. */
    public enum Status {
        /** Has no version yet. */
        ABSENT(true),
        /** Has our schema among its versions. */
        PRESENT(true),
        /** Would take, or has just taken, our schema as a new version. */
        NEW_VERSION(true),
        /** Has a version with which our schema does not get along; nothing was registered. */
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
