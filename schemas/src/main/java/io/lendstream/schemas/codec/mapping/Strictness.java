package io.lendstream.schemas.codec.mapping;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.Set;

/** What becomes of values beyond their {@link io.lendstream.core.event.Limits} when a record is read. */
public enum Strictness {
    /** The record is poison: for what others write. */
    REFUSE,
    /** The nearest legal value is taken, and counted by {@link Clamped}: for what this system wrote, by this version or an earlier one. */
    CLAMP;

    private static final Set<Topic<?>> OURS = Set.of(
            TopicCatalogue.DOMAIN_EVENTS,
            TopicCatalogue.DECISIONS,
            TopicCatalogue.BATCHING_DECISIONS,
            TopicCatalogue.LEASES,
            TopicCatalogue.ACTUATION_REPORTS,
            TopicCatalogue.PROGRESS);

    /** How a service reads a topic: what only this system writes is clamped, and everything else is refused. */
    public static Strictness intake(Topic<?> topic) {
        return OURS.contains(topic) ? CLAMP : REFUSE;
    }
}
