package io.lendstream.core.policy.reclaim;

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
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the loans to take back: those whose loss costs the least speedup in sum, one by one. A job that cannot go on
 * with fewer GPUs gives all its loans back.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, section 4</a>
 */
final class LeastLoss {
    private final SpeedMeasure measure;
    private final ClusterView cluster;
    private final Map<JobId, Borrower> borrowers = new LinkedHashMap<>();

    /** A job with loans, and the GPUs that it still has. */
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

        /** Whether all its GPUs are loans, so that the loans alone give its nodes. */
        boolean hasOnlyLoans() {
            return held.size() == loans.ids().size() && (held.equals(loans.ids()) || held.containsAll(loans.ids()));
        }

        /** Whether it goes on without some of its GPUs. */
        boolean canGiveSome() {
            return job.elastic() && held.size() > job.minGpus() && job.fit(held.size() - 1) > 0;
        }

        /** How many GPUs it gives up at once if it goes on: 1, unless its shape leaves sizes out. */
        int step() {
            return job.isShaped() ? held.size() - job.fit(held.size() - 1) : 1;
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
     * @param rest GPUs that the job would go on with; with 0 it would give back all that are left
     */
    private record Weighed(Borrower borrower, GpuState gpu, int rest, double loss) {
        /** The loans to take back: this one, and more if the job gives up several at once; first those on its node. */
        List<GpuState> taken() {
            if (rest == 0) {
                return borrower.loans.gpus();
            }
            int step = borrower.step();
            if (step == 1) {
                return List.of(gpu);
            }
            return borrower.loans.gpus().stream()
                    .sorted(Comparator.comparingInt(loan -> loan.nodeId().equals(gpu.nodeId()) ? 0 : 1))
                    .limit(step)
                    .toList();
        }

        Alternative alternative(String unit, boolean chosen, String why) {
            List<GpuId> gpus = taken().stream().map(GpuState::gpuId).toList();
            String measured = "loss of training speed (1 = " + unit + ")";
            return new Alternative(borrower.job.job(), gpus, rest, loss, measured, chosen, why);
        }
    }

    LeastLoss(ClusterView cluster, SpeedMeasure measure) {
        this.measure = measure;
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

    /** A round of the choice, before its loans are given back. */
    private interface Round {
        /** @param isLast whether no round follows */
        void chosen(Collection<Borrower> all, Weighed least, boolean isLast);
    }

    /** Loans to take back: at least {@code count}, unless fewer are left. */
    List<GpuId> victims(int count) {
        return victims(count, (all, least, isLast) -> {});
    }

    /** The loans that {@link #victims} weighed: the chosen ones in their order, then the rest, least loss first. */
    List<Alternative> losses(int count) {
        List<Alternative> losses = new ArrayList<>();
        List<Alternative> left = new ArrayList<>();
        victims(count, (all, least, isLast) -> {
            losses.add(least.alternative(measure.unit(), true, "training loses the least speed by it"));
            if (isLast) {
                for (Borrower borrower : all) {
                    for (Weighed weighed : borrower.weighed) {
                        if (!weighed.equals(least)) {
                            left.add(weighed.alternative(
                                    measure.unit(), false, "training would lose as much speed or more"));
                        }
                    }
                }
            }
        });
        left.sort(Comparator.comparingDouble(Alternative::score));
        losses.addAll(left);
        return losses;
    }

    private List<GpuId> victims(int count, Round round) {
        List<GpuId> taken = new ArrayList<>();
        while (taken.size() < count && !borrowers.isEmpty()) {
            Weighed least = least(borrowers.values()).orElseThrow();
            Borrower borrower = least.borrower;
            List<GpuState> given = least.taken();
            boolean keepsSome = least.rest > 0 && borrower.loans.ids().size() > given.size();
            boolean isLast = taken.size() + given.size() >= count || (!keepsSome && borrowers.size() == 1);
            round.chosen(borrowers.values(), least, isLast);
            given.forEach(gpu -> taken.add(gpu.gpuId()));
            if (keepsSome) {
                given.forEach(borrower::give);
                weigh(borrower);
            } else {
                borrowers.remove(borrower.job.job());
            }
        }
        return taken;
    }

    /** The loan with the least loss; the first if several are equal. */
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

    /** Weighs one GPU of each node, which stands for all GPUs of the job there. */
    private void weigh(Borrower borrower) {
        Loans loans = borrower.loans;
        boolean areAll = borrower.hasOnlyLoans();
        Spread spread = areAll ? Spread.NONE : spread(borrower.held);
        int wide = areAll ? loans.nodes().size() : spread.nodes();
        int size = borrower.held.size();
        double before = measure.speed(borrower.job, wide, size);
        boolean some = borrower.canGiveSome();
        int step = borrower.step();
        List<Weighed> weighed = new ArrayList<>(loans.nodes().size());
        for (Loans.Share share : loans.nodes()) {
            GpuState gpu = loans.gpus().get(share.first());
            int there = areAll ? share.count() : spread.on(share.node());
            int rest = size - (areAll || borrower.held.contains(gpu.gpuId()) ? step : 0);
            int nodes = wide - (there > 0 && there <= step && wide > 1 ? 1 : 0);
            double after = some ? measure.speed(borrower.job, nodes, rest) : 0;
            weighed.add(new Weighed(borrower, gpu, some ? rest : 0, some ? (before - after) / step : before));
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

    /** The number of GPUs on each node; GPUs of an unknown node count as on one node. */
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
