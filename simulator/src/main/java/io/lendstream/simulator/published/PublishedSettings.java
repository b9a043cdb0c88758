package io.lendstream.simulator.published;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.ats.DeepBoot;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.Set;

/**
 * What a published simulator is run with.
 *
 * @param nodes all nodes
 * @param gpusPerNode GPUs of each
 * @param policy who plans training, every 60 s
 * @param timing whose pauses jobs make
 * @param afe whether jobs change GPUs in place instead of restarting
 * @param keepsWarm whether replicas stay warm after a request (the published switch AISS); without, every start is cold
 * @param halves whether inference is confined to the second half of the nodes and takes whole nodes there, as Lyra does
 *     (the published switch ARYL)
 * @param fitStart factor on the point that fits of step times start from; 1 as published
 */
public record PublishedSettings(
        int nodes,
        int gpusPerNode,
        Policy policy,
        Timing timing,
        boolean afe,
        boolean keepsWarm,
        boolean halves,
        double fitStart) {
    /** Whose pauses jobs make when their GPUs change. */
    public enum Timing {
        /** Those measured for DeepBoot, by application. */
        DEEPBOOT(8),
        /** 30 s for every change, as in the artefact of Pollux. */
        POLLUX(4);

        private final int mostGpusOfNode;

        Timing(int mostGpusOfNode) {
            this.mostGpusOfNode = mostGpusOfNode;
        }

        /** The largest nodes that it has step times of; those of more than four GPUs repeat times of smaller ones. */
        int mostGpusOfNode() {
            return mostGpusOfNode;
        }
    }

    private static final Set<String> TAKES_WHOLE_NODES = Set.of("afs", "optimus");

    /**
     * DeepBoot's simulator as its authors ran it with a policy, and without AFE: replicas are kept warm, and AFS and
     * Optimus reclaim whole nodes.
     *
     * @param policy name and settings; DeepBoot uses {@code place=afresh} by default
     */
    public static PublishedSettings of(String policy, int nodes, int gpusPerNode) {
        boolean bare = policy.startsWith("deepboot") && !policy.contains(":place=");
        Policy parsed = Policies.parse(bare ? policy + ":place=" + DeepBoot.AFRESH : policy);
        return new PublishedSettings(
                nodes,
                gpusPerNode,
                parsed,
                Timing.DEEPBOOT,
                false,
                true,
                TAKES_WHOLE_NODES.contains(parsed.info().name()),
                1);
    }

    public PublishedSettings withTiming(Timing next) {
        return new PublishedSettings(nodes, gpusPerNode, policy, next, afe, keepsWarm, halves, fitStart);
    }

    public PublishedSettings withAfe(boolean next) {
        return new PublishedSettings(nodes, gpusPerNode, policy, timing, next, keepsWarm, halves, fitStart);
    }

    public PublishedSettings withWarmReplicas(boolean next) {
        return new PublishedSettings(nodes, gpusPerNode, policy, timing, afe, next, halves, fitStart);
    }

    public PublishedSettings withHalves(boolean next) {
        return new PublishedSettings(nodes, gpusPerNode, policy, timing, afe, keepsWarm, next, fitStart);
    }

    public PublishedSettings withFitStart(double factor) {
        return new PublishedSettings(nodes, gpusPerNode, policy, timing, afe, keepsWarm, halves, factor);
    }

    PublishedSettings withNodes(int next) {
        return new PublishedSettings(next, gpusPerNode, policy, timing, afe, keepsWarm, halves, fitStart);
    }

    int gpus() {
        return nodes * gpusPerNode;
    }
}
