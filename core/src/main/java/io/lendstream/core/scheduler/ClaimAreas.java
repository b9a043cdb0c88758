package io.lendstream.core.scheduler;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterLayout;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The nodes that a job may have its GPUs on together: those of one topology domain, if it requires one, and only one
 * node, where the actuator does not run a job on several.
 */
final class ClaimAreas {
    private final StepBuilder builder;
    private final TopologyLabels labels;
    private final AbilityGuard abilities;
    /** Whether a job may have GPUs of any nodes together. */
    private final boolean spanAll;

    ClaimAreas(StepBuilder builder, TopologyLabels labels, AbilityGuard abilities) {
        this.builder = builder;
        this.labels = labels;
        this.abilities = abilities;
        this.spanAll = abilities.spanAll();
    }

    /** Whether so many GPUs may be none for a job because of their nodes. */
    boolean bind(JobState job, int gpus) {
        JobShape shape = job.spec().shape();
        return shape.wholeNodes() || shape.required().isPresent() || (gpus > 1 && !spanAll);
    }

    /** The areas for a job among some nodes, by the names of their domains and nodes. */
    Iterable<List<NodeId>> of(JobState job, Optional<KindId> kind, List<NodeId> nodes) {
        JobSite site = site(job, kind);
        SortedMap<String, List<NodeId>> areas = new TreeMap<>();
        for (NodeId node : nodes) {
            if (abilities.isUsable(node)) {
                String domain = site.needsDomain() ? site.domain(node) : "";
                String area = abilities.spans(node) ? domain : domain + "\n" + node;
                areas.computeIfAbsent(area, any -> new ArrayList<>()).add(node);
            }
        }
        return areas.values();
    }

    /** The rules of a job about nodes with GPUs of a kind. */
    JobSite site(JobState job, Optional<KindId> kind) {
        return JobSite.of(
                job.spec().shape(),
                new ClusterLayout(builder.clusterIndex().gpus().seats(), builder.nodes(), labels, kind));
    }

    /** The smallest number of at least so many GPUs that a job may have of whole nodes; 0 if there is none. */
    static int size(JobState job, JobSite site, List<NodeId> nodes, int least) {
        Map<NodeId, Integer> gpus = new HashMap<>();
        nodes.forEach(node -> gpus.put(node, site.layout().gpusOf(node)));
        BitSet sizes = site.sizes(gpus);
        int most = job.spec().scaling().elastic() ? job.spec().scaling().maxGpus() : least;
        for (int size = sizes.nextSetBit(least); size >= 0 && size <= most; size = sizes.nextSetBit(size + 1)) {
            if (job.spec().shape().allows(size)) {
                return size;
            }
        }
        return 0;
    }

    /**
     * The sums of GPUs, up to a number, that the nodes from each place of a list on can give.
     *
     * @return one set more than there are nodes: the last is of no node
     */
    static List<BitSet> sums(JobSite site, List<NodeId> nodes, int most) {
        List<BitSet> sums = new ArrayList<>();
        BitSet last = new BitSet();
        last.set(0);
        sums.add(last);
        for (int place = nodes.size() - 1; place >= 0; place--) {
            int gpus = site.layout().gpusOf(nodes.get(place));
            BitSet next = (BitSet) last.clone();
            for (int sum = last.nextSetBit(0); sum >= 0 && sum + gpus <= most; sum = last.nextSetBit(sum + 1)) {
                next.set(sum + gpus);
            }
            sums.add(0, next);
            last = next;
        }
        return sums;
    }
}
