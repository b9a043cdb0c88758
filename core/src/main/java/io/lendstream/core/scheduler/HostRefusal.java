package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import java.util.Map;

/**
 * The cause why a job gets no GPUs of a node: its need of CPU or host memory.
 *
 * @param gpus how many GPUs of the node it would have
 * @param asked what it needs for these, in the unit of the resource; 1 if its owner declares no need
 * @param left what other jobs, replicas and paused jobs leave of the node; 0 or less if they have all
 * @param all what the node has
 */
record HostRefusal(JobId job, NodeId node, Resource resource, int gpus, long asked, long left, long all) {
    /** What a node has beside its GPUs. */
    enum Resource {
        /** In thousandths of a core. */
        CPU("%.1f CPUs", 1000),
        /** In bytes. */
        MEMORY("%.1f GiB of host memory", (double) (1L << 30));

        private final String text;
        private final double unit;

        Resource(String text, double unit) {
            this.text = text;
            this.unit = unit;
        }

        private String amount(long amount) {
            return text.formatted(amount / unit);
        }
    }

    /** For example {@code a needs 4.0 CPUs for 2 GPUs of node n1, which has 1.0 CPUs left of 8.0 CPUs}. */
    String inWords() {
        String need = asked > 1 ? resource.amount(asked) : "a share";
        return "%s needs %s for %s of node %s, which has %s left of %s"
                .formatted(
                        job,
                        need,
                        Reason.counted(gpus, "GPU"),
                        node,
                        resource.amount(Math.max(0, left)),
                        resource.amount(all));
    }

    Map<String, Double> numbers() {
        return Map.of("hostAsked", (double) asked, "hostLeft", (double) left, "hostAll", (double) all);
    }
}
