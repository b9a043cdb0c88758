package io.lendstream.core.decision;

import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Something that runs already and is taken over as it is.
 *
 * @param user its name as agents report it, such as {@code process/4711-99}
 * @param units the units that it uses
 */
public record Adopted(String user, List<GpuId> units) {
    public Adopted {
        units = GpuId.sorted(units);
    }

    /** The same by other names of units. */
    public Adopted renamed(UnaryOperator<GpuId> names) {
        return new Adopted(user, units.stream().map(names).toList());
    }
}
