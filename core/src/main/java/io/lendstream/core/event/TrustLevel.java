package io.lendstream.core.event;

import java.util.Locale;
import java.util.Optional;

/** How far the decisions of a domain are put in force, each level more than the one before. */
public enum TrustLevel {
    /** A level that this version does not know; counts as {@link #OBSERVE}. */
    UNKNOWN,
    /** The state follows what is reported; no decision is made, not even advice. */
    OBSERVE,
    /** Decisions are only advice. */
    ADVISE,
    /** Inference is served, and only GPUs that one service leaves idle are lent. */
    ONE_SERVICE,
    /** Inference is served, and at most a share of its GPUs is lent. */
    SHARE,
    /** No limit but the settings. */
    ALL;

    /** Whether decisions are not carried out by themselves. */
    public boolean isAdvice() {
        return compareTo(ADVISE) <= 0;
    }

    /** Whether no advice is given either. */
    public boolean onlyObserves() {
        return compareTo(OBSERVE) <= 0;
    }

    /** Whether it limits which or how many GPUs are lent. */
    public boolean limitsLoans() {
        return this == ONE_SERVICE || this == SHARE;
    }

    /** The level above; empty above the last. */
    public Optional<TrustLevel> next() {
        return switch (this) {
            case UNKNOWN, OBSERVE -> Optional.of(ADVISE);
            case ADVISE -> Optional.of(ONE_SERVICE);
            case ONE_SERVICE -> Optional.of(SHARE);
            case SHARE -> Optional.of(ALL);
            case ALL -> Optional.empty();
        };
    }

    /** The level below, at least {@link #OBSERVE}. */
    public TrustLevel below() {
        return switch (this) {
            case UNKNOWN, OBSERVE, ADVISE -> OBSERVE;
            case ONE_SERVICE -> ADVISE;
            case SHARE -> ONE_SERVICE;
            case ALL -> SHARE;
        };
    }

    /** Its number from 0 (observe) to 4 (all), as metrics and decisions have it. */
    public int rank() {
        return switch (this) {
            case UNKNOWN, OBSERVE -> 0;
            case ADVISE -> 1;
            case ONE_SERVICE -> 2;
            case SHARE -> 3;
            case ALL -> 4;
        };
    }

    /** As commands and settings spell it. */
    public String label() {
        return this == ONE_SERVICE ? "one" : name().toLowerCase(Locale.ROOT);
    }
}
