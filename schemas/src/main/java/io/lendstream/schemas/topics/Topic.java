package io.lendstream.schemas.topics;

import java.time.Duration;
import java.util.Optional;

/**
 * One of our topics: its name without the prefix, its keys and values, and its retention.
 *
 * @param role the topic's writer and purpose
 * @param key the content of a record's key
 * @param retention how long records are kept; empty if only compaction removes them
 * @param type the core record of a value; its simple name is the Avro record's name
 * @param content the content of a record, for people
 */
public record Topic<T>(
        String suffix,
        Role role,
        String key,
        Cleanup cleanup,
        Optional<Duration> retention,
        Class<T> type,
        String content) {

    /** The writers and purpose of a topic. */
    public enum Role {
        /** Written by agents, workloads and people. Each {@link DomainIntake} may have such a topic of its own. */
        INTAKE("intake"),
        /** A domain's history, which is replayed, explained and checked from these topics. */
        HISTORY("history"),
        /** The latest result or decision of Lendstream for each key. */
        RESULT("result"),
        /** The progress of services, which accelerated runs wait for. */
        TIME("time");

        private final String word;

        Role(String word) {
            this.word = word;
        }

        /** The role's name in documents. */
        @Override
        public String toString() {
            return word;
        }
    }

    /** How old records are removed. */
    public enum Cleanup {
        COMPACT("compact"),
        DELETE("delete"),
        /** The newest record of each key, until the end of the retention. */
        COMPACT_DELETE("compact,delete");

        private final String policy;

        Cleanup(String policy) {
            this.policy = policy;
        }

        /** The value of Kafka's {@code cleanup.policy}. */
        public String policy() {
            return policy;
        }

        boolean compacts() {
            return this != DELETE;
        }
    }

    public Topic {
        if (!suffix.matches("[a-z][a-z-]*")) {
            throw new IllegalArgumentException(
                    "a topic's name must be lower-case words joined by '-', but was '%s'".formatted(suffix));
        }
        if (cleanup == Cleanup.COMPACT && retention.isPresent()) {
            throw new IllegalArgumentException("%s is only compacted, so it cannot have a retention".formatted(suffix));
        }
    }

    /** By name alone: topics are looked up for every record. */
    @Override
    public int hashCode() {
        return suffix.hashCode();
    }

    /** The Avro record's name, without its namespace. */
    public String recordName() {
        return type.getSimpleName();
    }

    @Override
    public String toString() {
        return suffix;
    }
}
