package io.lendstream.core.event;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What a driver can do. A symbol of a later version counts as the least ability.
 *
 * @param atBind what it chooses where a tenant starts
 * @param atRelease what it chooses where a tenant gives units back
 * @param granularity the least that it lends
 * @param groupLabel the label of nodes that names their group, for {@link Granularity#NODE_GROUP}; without it all nodes
 *     of the actuator are one group
 * @param mig whether it changes MIG instances
 * @param suspend whether it pauses a job in memory
 * @param sharing whether several tenants can share a GPU
 * @param spansNodes whether it runs one job on several nodes
 */
public record Abilities(
        UnitChoice atBind,
        UnitChoice atRelease,
        Granularity granularity,
        Optional<String> groupLabel,
        boolean mig,
        boolean suspend,
        boolean sharing,
        boolean spansNodes) {
    /** What the scheduler counts on where no actuator has described itself. */
    public static final Abilities USUAL = new Abilities(
            UnitChoice.UNIT, UnitChoice.UNIT, Granularity.SLICE, Optional.empty(), true, false, false, true);

    /** The names of abilities, as records spell them. */
    public static final String MIG = "mig";

    public static final String SPANS_NODES = "spansNodes";
    public static final String GRANULARITY = "granularity";
    public static final String AT_BIND = "atBind";

    public Abilities {
        atBind = atBind == UnitChoice.UNKNOWN ? UnitChoice.NOTHING : atBind;
        atRelease = atRelease == UnitChoice.UNKNOWN ? UnitChoice.NOTHING : atRelease;
        granularity = granularity == Granularity.UNKNOWN ? Granularity.NODE_GROUP : granularity;
    }

    /** Whether the MIG instances of GPUs can be planned: it changes them, and lends units of less than a node. */
    public boolean cutsUnits() {
        return mig && !lendsBundles();
    }

    /** Whether it chooses each unit where a tenant starts. Otherwise names of units stand for slots. */
    public boolean choosesUnits() {
        return atBind == UnitChoice.UNIT;
    }

    /** Whether it chooses at least the node where a tenant starts. Otherwise nothing can be planned for its nodes. */
    public boolean choosesNodes() {
        return atBind != UnitChoice.NOTHING;
    }

    /** Whether it lends a MIG instance alone. */
    public boolean lendsSlices() {
        return granularity == Granularity.SLICE;
    }

    /** Whether it lends only units of one or several nodes together. */
    public boolean lendsBundles() {
        return granularity == Granularity.NODE || granularity == Granularity.NODE_GROUP;
    }

    /** For example {@code chooses unit at bind and unit at release, lends slice, can: mig, spansNodes}. */
    public String inWords() {
        List<String> can = new ArrayList<>();
        add(can, mig, MIG);
        add(can, suspend, "suspend");
        add(can, sharing, "sharing");
        add(can, spansNodes, SPANS_NODES);
        return "chooses %s at bind and %s at release, lends %s%s, can: %s"
                .formatted(
                        lower(atBind),
                        lower(atRelease),
                        lower(granularity),
                        groupLabel.map(label -> " by label " + label).orElse(""),
                        can.isEmpty() ? "nothing more" : String.join(", ", can));
    }

    private static void add(List<String> names, boolean holds, String name) {
        if (holds) {
            names.add(name);
        }
    }

    private static String lower(Enum<?> symbol) {
        return symbol.name().toLowerCase(Locale.ROOT);
    }

    /** The same with or without changes of MIG instances. */
    public Abilities withMig(boolean other) {
        return new Abilities(atBind, atRelease, granularity, groupLabel, other, suspend, sharing, spansNodes);
    }

    /** The same with or without jobs on several nodes. */
    public Abilities withSpansNodes(boolean other) {
        return new Abilities(atBind, atRelease, granularity, groupLabel, mig, suspend, sharing, other);
    }

    /** The same with or without pauses of jobs in memory. */
    public Abilities withSuspend(boolean other) {
        return new Abilities(atBind, atRelease, granularity, groupLabel, mig, other, sharing, spansNodes);
    }

    /** The same with another least loan. */
    public Abilities withGranularity(Granularity other) {
        return new Abilities(atBind, atRelease, other, groupLabel, mig, suspend, sharing, spansNodes);
    }

    /** The same that lends groups of nodes, by a label. */
    public Abilities inGroupsBy(String label) {
        return new Abilities(
                atBind, atRelease, Granularity.NODE_GROUP, Optional.of(label), mig, suspend, sharing, spansNodes);
    }

    /** The same that chooses so much where a tenant starts, and where one gives units back. */
    public Abilities choosing(UnitChoice bind, UnitChoice release) {
        return new Abilities(bind, release, granularity, groupLabel, mig, suspend, sharing, spansNodes);
    }
}
