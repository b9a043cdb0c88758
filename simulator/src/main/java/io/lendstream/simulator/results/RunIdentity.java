package io.lendstream.simulator.results;

/**
 * The identity of a run among others.
 *
 * @param policy by the name, and with the settings, that it was asked for by
 * @param lending whether inference GPUs might be lent
 * @param afe whether elastic jobs were changed in place
 */
public record RunIdentity(
        String workload, String policy, boolean lending, boolean afe, long seed, int nodes, int gpusPerNode) {
    /** The run in a few words. */
    public String title() {
        return "%s, lending %s".formatted(policy, onOrOff(lending));
    }

    static String onOrOff(boolean value) {
        return value ? "on" : "off";
    }
}
