package io.lendstream.core.event;

import io.lendstream.core.id.GpuId;
import java.util.Optional;

/**
 * Where a tenant is, or was, that a report names on a unit.
 *
 * @param named the unit by which the report names it
 * @param actual the unit itself, if it is {@linkplain Knowledge#ANOTHER another}
 * @param user the tenant there, as agents report the users of GPUs
 */
public record UnitPlacement(GpuId named, Knowledge knowledge, Optional<GpuId> actual, Optional<String> user) {
    /** A tenant on some unit like the named one. */
    public static UnitPlacement unknown(GpuId named, Optional<String> user) {
        return new UnitPlacement(named, Knowledge.UNKNOWN, Optional.empty(), user);
    }

    /** A tenant on the named unit itself. */
    public static UnitPlacement here(GpuId named, Optional<String> user) {
        return new UnitPlacement(named, Knowledge.THIS, Optional.empty(), user);
    }

    /** A tenant on another unit than the named one. */
    public static UnitPlacement on(GpuId actual, GpuId named, Optional<String> user) {
        return actual.equals(named)
                ? here(named, user)
                : new UnitPlacement(named, Knowledge.ANOTHER, Optional.of(actual), user);
    }

    /** The unit itself; empty if it is not known. */
    public Optional<GpuId> unit() {
        return switch (knowledge) {
            case THIS -> Optional.of(named);
            case ANOTHER -> actual;
            case UNKNOWN -> Optional.empty();
        };
    }

    /** The same by another name. */
    public UnitPlacement by(GpuId name) {
        return knowledge == Knowledge.UNKNOWN ? unknown(name, user) : on(unit().orElse(name), name, user);
    }
}
