package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.persistent.WhenAbsent;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The declaration of a domain's settings. They go before those of the scheduler's configuration from this event on.
 *
 * @param settings their texts by name, in the form of {@link SchedulerStarted#settings()}
 * @param removed whether the record ends the declaration: the settings of the configuration count again
 */
public record DomainSettings(
        DomainId domain,
        Instant at,
        Map<String, String> settings,
        @WhenAbsent("false") boolean removed) implements Event {
    /** Declared settings. */
    public DomainSettings(DomainId domain, Instant at, Map<String, String> settings) {
        this(domain, at, settings, false);
    }

    public DomainSettings {
        settings = Collections.unmodifiableSortedMap(new TreeMap<>(settings));
    }

    /** The declaration in force after this event; empty if there is none. */
    public Optional<DomainSettings> standing() {
        return removed ? Optional.empty() : Optional.of(this);
    }

    /** The record that ends this declaration. */
    public DomainSettings removedAt(Instant time) {
        return new DomainSettings(domain, time, settings, true);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.domainSettings(this);
    }
}
