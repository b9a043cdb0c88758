package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Owner;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Which loans to take back: those whose loss costs the least speedup in sum, taken one by one. A job that cannot go on with less
 * gives all that it was lent.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, section 4</a>
 */
final class LeastLoss {
    private static final String LOSS = "loss of speedup";

    private final Ats ats;
    private final Map<GpuId, NodeId> nodes;
    private final Map<JobId, Loans> borrowers = new TreeMap<>();

    /** What a job was lent and has still. */
    private static final class Loans {
        private final JobView job;
        private final List<GpuId> held;
        private final List<GpuId> lent = new ArrayList<>();
        private List<Weighed> weighed = List.of();

        Loans(JobView job) {
            this.job = job;
            this.held = new ArrayList<>(job.gpus());
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
    private record Weighed(Loans loans, GpuId gpu, int rest, double loss) {
        Alternative alternative(boolean chosen, String why) {
            List<GpuId> gpus = rest == 0 ? List.copyOf(loans.lent) : List.of(gpu);
            return new Alternative(loans.job.job(), gpus, rest, loss, LOSS, chosen, why);
        }
    }

    LeastLoss(ClusterView cluster, Ats ats) {
        this.ats = ats;
        this.nodes = new HashMap<>(2 * cluster.gpus().size());
        Map<JobId, JobView> jobs = new HashMap<>();
        cluster.jobs().forEach(job -> jobs.put(job.job(), job));
        for (GpuState gpu : cluster.gpus()) {
            nodes.put(gpu.gpuId(), gpu.nodeId());
            if (gpu.owner() instanceof Owner.Lent loan) {
                Optional.ofNullable(jobs.get(loan.job()))
                        .ifPresent(job -> borrowers
                                .computeIfAbsent(job.job(), name -> new Loans(job))
                                .lent
                                .add(gpu.gpuId()));
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
                taken.add(least.gpu);
                loans.held.remove(least.gpu);
                loans.lent.remove(least.gpu);
            } else {
                taken.addAll(loans.lent);
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
        Map<NodeId, Integer> spread = new HashMap<>();
        loans.held.forEach(gpu -> spread.merge(nodes.get(gpu), 1, Integer::sum));
        double before = ats.speedup(loans.job, spread.size(), loans.held.size());
        boolean one = loans.canGiveOne();
        Set<NodeId> tried = new HashSet<>();
        List<Weighed> weighed = new ArrayList<>();
        for (GpuId gpu : loans.lent) {
            NodeId node = nodes.get(gpu);
            if (tried.add(node)) {
                int left = spread.size() - (spread.getOrDefault(node, 0) == 1 ? 1 : 0);
                int size = loans.held.size() - (loans.held.contains(gpu) ? 1 : 0);
                double after = one ? ats.speedup(loans.job, left, size) : 0;
                weighed.add(new Weighed(loans, gpu, one ? size : 0, before - after));
            }
        }
        loans.weighed = weighed;
    }
}
