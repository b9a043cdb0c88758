package io.lendstream.core.event;

/** What an actuator knows about the unit that a tenant has got, or left. */
public enum Knowledge {
    /** It does not know the unit; also a symbol of a later version. */
    UNKNOWN,
    /** The named unit. */
    THIS,
    /** Another unit, which is given. */
    ANOTHER
}
