package io.lendstream.core.policy.ats;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Loans;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    private final Map<JobId, Borrower> borrowers = new LinkedHashMap<>();

    /** A job that was lent something, and what it has still. */
    private static final class Borrower {
        private final JobView job;
        private List<GpuId> held;
        private Loans loans;
        private List<Weighed> weighed = List.of();

        Borrower(JobView job, Loans loans) {
            this.job = job;
            this.held = job.gpus();
            this.loans = loans;
        }

        /** So that its loans say on which nodes it is. */
        boolean hasOnlyLoans() {
            return held.size() == loans.ids().size() && (held.equals(loans.ids()) || held.containsAll(loans.ids()));
        }

        boolean canGiveOne() {
            return job.elastic() && held.size() > job.minGpus();
        }

        void give(GpuState gpu) {
            held = new ArrayList<>(held);
            held.remove(gpu.gpuId());
            loans = Loans.of(
                    loans.gpus().stream().filter(loan -> !loan.equals(gpu)).toList());
        }
    }

    /**
     * A loan that was weighed.
     *
     * @param rest GPUs that the job would go on with; without any, it would give all that are left
     */
    private record Weighed(Borrower borrower, GpuState gpu, int rest, double loss) {
        Alternative alternative(boolean chosen, String why) {
            List<GpuId> gpus = rest == 0 ? borrower.loans.ids() : List.of(gpu.gpuId());
            return new Alternative(borrower.job.job(), gpus, rest, loss, LOSS, chosen, why);
        }
    }

    LeastLoss(ClusterView cluster, Ats ats) {
        this.ats = ats;
        this.cluster = cluster;
        Map<JobId, JobView> jobs = new HashMap<>();
        for (JobView job : cluster.holding()) {
            jobs.put(job.job(), job);
        }
        for (Map.Entry<JobId, Loans> lent : cluster.loans()) {
            JobView job = jobs.get(lent.getKey());
            if (job != null) {
                Borrower borrower = new Borrower(job, lent.getValue());
                weigh(borrower);
                borrowers.put(lent.getKey(), borrower);
            }
        }
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
            for (Borrower borrower : round) {
                for (Weighed weighed : borrower.weighed) {
                    if (!weighed.equals(least)) {
                        left.add(weighed.alternative(false, "would lose as much or more"));
                    }
                }
            }
        });
        losses.addAll(left);
        return losses;
    }

    private List<GpuId> victims(int count, Consumer<Collection<Borrower>> round) {
        List<GpuId> taken = new ArrayList<>();
        while (taken.size() < count && !borrowers.isEmpty()) {
            round.accept(borrowers.values());
            Weighed least = least(borrowers.values()).orElseThrow();
            Borrower borrower = least.borrower;
            boolean one = borrower.canGiveOne() && borrower.loans.ids().size() > 1;
            taken.addAll(borrower.canGiveOne() ? List.of(least.gpu.gpuId()) : borrower.loans.ids());
            if (one) {
                borrower.give(least.gpu);
                weigh(borrower);
            } else {
                borrowers.remove(borrower.job.job());
            }
        }
        return taken;
    }

    /** Of equal losses the first. */
    private static Optional<Weighed> least(Collection<Borrower> borrowers) {
        Weighed least = null;
        for (Borrower borrower : borrowers) {
            for (Weighed weighed : borrower.weighed) {
                if (least == null || weighed.loss < least.loss) {
                    least = weighed;
                }
            }
        }
        return Optional.ofNullable(least);
    }

    /** Of the GPUs on one node, one stands for all. */
    private void weigh(Borrower borrower) {
        Loans loans = borrower.loans;
        boolean areAll = borrower.hasOnlyLoans();
        Spread spread = areAll ? Spread.NONE : spread(borrower.held);
        int wide = areAll ? loans.nodes().size() : spread.nodes();
        int size = borrower.held.size();
        double before = ats.speedup(borrower.job, wide, size);
        boolean one = borrower.canGiveOne();
        List<Weighed> weighed = new ArrayList<>(loans.nodes().size());
        for (Loans.Share share : loans.nodes()) {
            GpuState gpu = loans.gpus().get(share.first());
            int there = areAll ? share.count() : spread.on(share.node());
            int rest = size - (areAll || borrower.held.contains(gpu.gpuId()) ? 1 : 0);
            double after = one ? ats.speedup(borrower.job, wide - (there == 1 ? 1 : 0), rest) : 0;
            weighed.add(new Weighed(borrower, gpu, one ? rest : 0, before - after));
        }
        borrower.weighed = weighed;
    }

    private Spread spread(List<GpuId> held) {
        Spread spread = new Spread();
        for (GpuId gpu : held) {
            spread.add(cluster.node(gpu).orElse(null));
        }
        return spread;
    }

    /** How many GPUs are on each node; those whose node is not known count as on one. */
    private static final class Spread {
        static final Spread NONE = new Spread();

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
