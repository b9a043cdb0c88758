package io.lendstream.core.policy.published;

import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Makes rows of Pollux's search fit the shape of a job: its numbers of GPUs, whole nodes and topology domain. */
final class ShapedRows implements PolluxSearch.RowRule {
    private final JobView job;
    private final int most;
    private final boolean wholeNodes;
    private final boolean needsDomain;
    /** GPUs of each node, whatever their state. */
    private final int[] full;
    /** The nodes of each domain; empty if the job wishes none. */
    private final List<List<Integer>> domains;

    /**
     * @param nodes in the order of rows
     * @param most the most GPUs that the job may have now
     */
    ShapedRows(JobView job, List<NodeId> nodes, int most) {
        this.job = job;
        this.most = most;
        Optional<JobSite> site = job.site();
        this.wholeNodes = site.filter(JobSite::wholeNodes).isPresent();
        this.needsDomain = site.filter(JobSite::needsDomain).isPresent();
        this.full = new int[nodes.size()];
        Map<String, List<Integer>> byName = new TreeMap<>();
        for (int n = 0; n < full.length; n++) {
            if (site.isPresent()) {
                full[n] = site.get().layout().gpusOf(nodes.get(n));
                byName.computeIfAbsent(site.get().domain(nodes.get(n)), any -> new ArrayList<>())
                        .add(n);
            }
        }
        this.domains =
                site.filter(rules -> rules.wish().isPresent()).isPresent() ? List.copyOf(byName.values()) : List.of();
    }

    @Override
    public void repair(int[] row, int[] room) {
        if (!domains.isEmpty()) {
            gather(row, room);
        }
        for (int n = 0; wholeNodes && n < row.length; n++) {
            row[n] = row[n] > 0 && room[n] == full[n] ? full[n] : 0;
        }
        int sum = 0;
        for (int replicas : row) {
            sum += replicas;
        }
        int size = job.fit(Math.min(sum, most));
        for (int n = row.length - 1; n >= 0 && (sum > size || !job.allows(sum)); n--) {
            int less = wholeNodes ? row[n] : Math.min(row[n], sum - size);
            row[n] -= less;
            sum -= less;
        }
    }

    /** Moves all replicas to one domain that has room for them; else drops those outside the one with most of them. */
    private void gather(int[] row, int[] room) {
        int all = 0;
        for (int replicas : row) {
            all += replicas;
        }
        List<Integer> best = List.of();
        int score = -1;
        for (List<Integer> domain : domains) {
            int here = 0;
            int space = 0;
            for (int n : domain) {
                here += row[n];
                space += room[n];
            }
            boolean holds = space >= all;
            if ((holds || needsDomain) && here + (holds ? all : 0) > score) {
                score = here + (holds ? all : 0);
                best = domain;
            }
        }
        if (best.isEmpty()) {
            return;
        }
        for (int n = 0; n < row.length; n++) {
            if (!best.contains(n)) {
                row[n] = 0;
            }
        }
        int missing = all;
        for (int n : best) {
            missing -= row[n];
        }
        for (int n : best) {
            int more = Math.max(0, Math.min(missing, room[n] - row[n]));
            row[n] += more;
            missing -= more;
        }
    }
}
