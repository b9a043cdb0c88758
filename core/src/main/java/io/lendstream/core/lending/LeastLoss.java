package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Owner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which loans to take back: those whose loss costs the least speedup in sum, taken one by one. A job that cannot go on with less
 * gives all that it was lent.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, section 4</a>
 */
final class LeastLoss {
    private static final String LOSS = "loss of speedup";

    private final Ats ats;
    private final ClusterView cluster;
    private final Map<JobId, Loans> borrowers = new TreeMap<>();
    private Map<GpuId, NodeId> nodes = Map.of();

    /** What a job was lent and has still. */
    private static final class Loans {
        private final JobView job;
        private final List<GpuId> held;
        private final List<GpuState> lent = new ArrayList<>();
        private List<Weighed> weighed = List.of();

        Loans(JobView job) {
            this.job = job;
            this.held = new ArrayList<>(job.gpus());
        }

        /** Whether the loans are all that it holds, so that they say on which nodes it is. */
        boolean areAll() {
            if (held.size() != lent.size()) {
                return false;
            }
            for (int i = 0; i < held.size(); i++) {
                if (!held.get(i).equals(lent.get(i).gpuId())) {
                    return false;
                }
            }
            return true;
        }

        List<GpuId> lentGpus() {
            return lent.stream().map(GpuState::gpuId).toList();
        }

        boolean canGiveOne() {
            return job.elastic() && held.size() > job.minGpus();
        }
    }

    /**
     * A loan that was weighed.
     *
     * @param rest GPUs that the job would go on with; without any, it would give all that are left
     */
    private record Weighed(Loans loans, GpuState gpu, int rest, double loss) {
        Alternative alternative(boolean chosen, String why) {
            List<GpuId> gpus = rest == 0 ? loans.lentGpus() : List.of(gpu.gpuId());
            return new Alternative(loans.job.job(), gpus, rest, loss, LOSS, chosen, why);
        }
    }

    LeastLoss(ClusterView cluster, Ats ats) {
        this.ats = ats;
        this.cluster = cluster;
        Map<JobId, JobView> jobs = new HashMap<>();
        cluster.holding().forEach(job -> jobs.put(job.job(), job));
        @Nullable JobId last = null;
        @Nullable Loans loans = null;
        for (GpuState gpu : cluster.gpus()) {
            if (gpu.owner() instanceof Owner.Lent loan) {
                if (!loan.job().equals(last)) {
                    last = loan.job();
                    JobView job = jobs.get(last);
                    loans = job == null ? null : borrowers.computeIfAbsent(last, name -> new Loans(job));
                }
                if (loans != null) {
                    loans.lent.add(gpu);
                }
            }
        }
        borrowers.values().forEach(this::weigh);
    }

    /** Loans to take back, until there are so many or none is left. */
    List<GpuId> victims(int count) {
        return victims(count, round -> {});
    }

    /** The loans that were weighed for that: those that were chosen, in their order, and those that were left in the end. */
    List<Alternative> losses(int count) {
        List<Alternative> losses = new ArrayList<>();
        List<Alternative> left = new ArrayList<>();
        victims(count, round -> {
            Weighed least = least(round).orElseThrow();
            losses.add(least.alternative(true, "loses least of what was left"));
            left.clear();
            for (Loans loans : round) {
                for (Weighed weighed : loans.weighed) {
                    if (!weighed.equals(least)) {
                        left.add(weighed.alternative(false, "would lose as much or more"));
                    }
                }
            }
        });
        losses.addAll(left);
        return losses;
    }

    private List<GpuId> victims(int count, Consumer<Collection<Loans>> round) {
        List<GpuId> taken = new ArrayList<>();
        while (taken.size() < count && !borrowers.isEmpty()) {
            round.accept(borrowers.values());
            Weighed least = least(borrowers.values()).orElseThrow();
            Loans loans = least.loans;
            if (loans.canGiveOne()) {
                taken.add(least.gpu.gpuId());
                loans.held.remove(least.gpu.gpuId());
                loans.lent.remove(least.gpu);
            } else {
                taken.addAll(loans.lentGpus());
                loans.lent.clear();
            }
            if (loans.lent.isEmpty()) {
                borrowers.remove(loans.job.job());
            } else {
                weigh(loans);
            }
        }
        return taken;
    }

    /** Of equal losses the first. */
    private static Optional<Weighed> least(Collection<Loans> borrowers) {
        Weighed least = null;
        for (Loans loans : borrowers) {
            for (Weighed weighed : loans.weighed) {
                if (least == null || weighed.loss < least.loss) {
                    least = weighed;
                }
            }
        }
        return Optional.ofNullable(least);
    }

    /** Of the GPUs on one node, one stands for all. */
    private void weigh(Loans loans) {
        Spread spread = spread(loans);
        double before = ats.speedup(loans.job, spread.nodes(), loans.held.size());
        boolean one = loans.canGiveOne();
        List<Weighed> weighed = new ArrayList<>(spread.nodes());
        @Nullable NodeId last = null;
        for (GpuState gpu : loans.lent) {
            if (!gpu.nodeId().equals(last)) {
                last = gpu.nodeId();
                int left = spread.nodes() - (spread.on(last) == 1 ? 1 : 0);
                int size = loans.held.size() - (loans.held.contains(gpu.gpuId()) ? 1 : 0);
                double after = one ? ats.speedup(loans.job, left, size) : 0;
                weighed.add(new Weighed(loans, gpu, one ? size : 0, before - after));
            }
        }
        loans.weighed = weighed;
    }

    private Spread spread(Loans loans) {
        Spread spread = new Spread();
        if (loans.areAll()) {
            for (GpuState gpu : loans.lent) {
                spread.add(gpu.nodeId());
            }
        } else {
            for (GpuId gpu : loans.held) {
                spread.add(nodes().get(gpu));
            }
        }
        return spread;
    }

    private Map<GpuId, NodeId> nodes() {
        if (nodes.isEmpty()) {
            nodes = new HashMap<>(2 * cluster.gpus().size());
            for (GpuState gpu : cluster.gpus()) {
                nodes.put(gpu.gpuId(), gpu.nodeId());
            }
        }
        return nodes;
    }

    /** How many GPUs are on each node; those whose node is not known count as on one. */
    private static final class Spread {
        private final List<@Nullable NodeId> nodes = new ArrayList<>();
        private int[] gpus = new int[2];

        void add(@Nullable NodeId node) {
            int at = nodes.indexOf(node);
            if (at < 0) {
                at = nodes.size();
                nodes.add(node);
                gpus = at < gpus.length ? gpus : Arrays.copyOf(gpus, 2 * at);
            }
            gpus[at]++;
        }

        int on(NodeId node) {
            int at = nodes.indexOf(node);
            return at < 0 ? 0 : gpus[at];
        }

        int nodes() {
            return nodes.size();
        }
    }
}
