package io.lendstream.core.event;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The services of Lendstream, with their names in commands, settings and records. */
public enum ServiceName {
    AGENT,
    FORECASTER,
    SCHEDULER,
    ACTUATOR,
    LOAD,
    /** What an accelerated run plays, the passing of its time included. {@link #LOAD} speaks under this name. */
    ENVIRONMENT;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The service that a record names; empty where it is none that this version knows. */
    public static Optional<ServiceName> of(String word) {
        return Arrays.stream(values()).filter(name -> name.word.equals(word)).findFirst();
    }

    /** As commands, settings and records name it: in lower case. */
    @Override
    public String toString() {
        return word;
    }
}
