package io.lendstream.schemas.topics;

import java.time.Duration;
import java.util.Optional;

/**
 * One of our topics: its name without the prefix, what its keys and values are, and how long it keeps them.
 *
 * @param role who writes it, and what it is for
 * @param key what a record's key is
 * @param retention how long records are kept; empty where only compaction removes them
 * @param type the core record that a value stands for; its simple name is the Avro record's name
 * @param content what a record says, for people
 */
public record Topic<T>(
        String suffix,
        Role role,
        String key,
        Cleanup cleanup,
        Optional<Duration> retention,
        Class<T> type,
        String content) {

    /** Who writes a topic, and what it is for. */
    public enum Role {
        /** Written by agents, workloads and people. It may exist once more for each {@link DomainIntake}. */
        INTAKE("intake"),
        /** What a domain's history consists of: it is replayed, explained and checked from these topics. */
        HISTORY("history"),
        /** The latest of what Lendstream found or decided, by key, for those who act on it. */
        RESULT("result"),
        /** How far services have got, which accelerated runs wait for. */
        TIME("time");

        private final String word;

        Role(String word) {
            this.word = word;
        }

        /** As documents name it. */
        @Override
        public String toString() {
            return word;
        }
    }

    /** What removes old records. */
    public enum Cleanup {
        COMPACT("compact"),
        DELETE("delete"),
        /** The newest record of a key for as long as retention lasts. */
        COMPACT_DELETE("compact,delete");

        private final String policy;

        Cleanup(String policy) {
            this.policy = policy;
        }

        /** As Kafka's {@code cleanup.policy} spells it. */
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

    /** By the name alone: topics are looked up with every record. */
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
