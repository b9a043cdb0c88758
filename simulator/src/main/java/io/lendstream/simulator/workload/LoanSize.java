package io.lendstream.simulator.workload;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.simulated.SimulatedTopology;
import java.util.Optional;

/**
 * The least that a simulated actuator lends, as {@code --lend} and the field {@code lend} of the section {@code
 * cluster} name it: {@code slice} for a MIG instance, {@code gpu}, {@code node}, {@code group} for all nodes together,
 * or {@code group:LABEL} for those with the same value of a label.
 *
 * @param label the label of groups, in full
 */
public record LoanSize(Granularity granularity, Optional<String> label) {
    /** The default: each MIG instance and each GPU alone. */
    public static final String DEFAULT = "slice";

    /** The forms that there are, for errors. */
    public static final String FORMS =
            "slice (also a MIG instance), gpu, node, group (all nodes of inference together), or group:LABEL, where LABEL is rack, nvlink-domain or a label of nodeGroups";

    private static final String BY_LABEL = "group:";

    /** Reads one; empty if there is no such form. */
    public static Optional<LoanSize> of(String text) {
        return switch (text) {
            case DEFAULT -> Optional.of(new LoanSize(Granularity.SLICE, Optional.empty()));
            case "gpu" -> Optional.of(new LoanSize(Granularity.GPU, Optional.empty()));
            case "node" -> Optional.of(new LoanSize(Granularity.NODE, Optional.empty()));
            case "group" -> Optional.of(new LoanSize(Granularity.NODE_GROUP, Optional.empty()));
            default ->
                Optional.of(text)
                        .filter(form -> form.startsWith(BY_LABEL) && form.length() > BY_LABEL.length())
                        .map(form -> inFull(form.substring(BY_LABEL.length())))
                        .map(label -> new LoanSize(Granularity.NODE_GROUP, Optional.of(label)));
        };
    }

    private static String inFull(String label) {
        return switch (label) {
            case "rack" -> SimulatedTopology.RACK;
            case "nvlink-domain" -> SimulatedTopology.NVLINK_DOMAIN;
            default -> label;
        };
    }

    /**
     * The abilities of an actuator that lends no less. Without MIG instances there is nothing less than a GPU, so that
     * nothing changes.
     *
     * @param hasInstances whether nodes have MIG instances
     */
    public Abilities of(Abilities abilities, boolean hasInstances) {
        boolean isUsual = granularity == Granularity.SLICE || (granularity == Granularity.GPU && !hasInstances);
        return isUsual
                ? abilities
                : label.map(abilities::inGroupsBy).orElseGet(() -> abilities.withGranularity(granularity));
    }
}
