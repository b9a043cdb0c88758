package io.lendstream.core.state;

import java.util.Optional;

/**
 * What is known about the place of a tenant whose driver does not choose units.
 *
 * @param certainty whether the tenant has the unit itself, or one like it
 * @param user the tenant there, as agents report the users of GPUs
 */
public record SlotKnowledge(Certainty certainty, Optional<String> user) {
    /** A tenant that has some unit like the named one. */
    public static SlotKnowledge slot(Optional<String> user) {
        return new SlotKnowledge(Certainty.SLOT, user);
    }

    /** A tenant that was seen on the unit itself. */
    public static SlotKnowledge named(Optional<String> user) {
        return new SlotKnowledge(Certainty.NAMED, user);
    }

    public boolean isSlot() {
        return certainty != Certainty.NAMED;
    }

    /** The same tenant, seen on the unit itself. */
    public SlotKnowledge seen() {
        return named(user);
    }
}
