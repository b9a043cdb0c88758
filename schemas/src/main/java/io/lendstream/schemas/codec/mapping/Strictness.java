package io.lendstream.schemas.codec.mapping;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.Set;

/** How a value beyond its {@link io.lendstream.core.event.Limits} is handled when a record is read. */
public enum Strictness {
    /** The record is refused: for records that others write. */
    REFUSE,
    /** The nearest valid value is used and counted by {@link Clamped}: for records of this system, of any version. */
    CLAMP;

    private static final Set<Topic<?>> OURS = Set.of(
            TopicCatalogue.DOMAIN_EVENTS,
            TopicCatalogue.DECISIONS,
            TopicCatalogue.SNAPSHOTS,
            TopicCatalogue.REASONS,
            TopicCatalogue.BATCHING_DECISIONS,
            TopicCatalogue.LEASES,
            TopicCatalogue.ACTUATION_REPORTS,
            TopicCatalogue.ACTUATORS,
            TopicCatalogue.PROGRESS);

    /** How a service reads a topic: records that only this system writes are clamped, all others are refused. */
    public static Strictness intake(Topic<?> topic) {
        return OURS.contains(topic) ? CLAMP : REFUSE;
    }
}
