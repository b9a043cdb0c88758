package io.lendstream.core.policy.reclaim;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.LoanBundle;
import io.lendstream.core.state.Loans;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * Chooses the bundles to take back: those whose loss costs the least speedup for each GPU that inference gets, one by
 * one. All jobs of a bundle lose their GPUs there. A loan outside bundles counts as a bundle of one GPU.
 */
final class BundleLoss {
    private final ClusterView cluster;
    private final SpeedMeasure measure;
    private final Map<JobId, JobView> jobs = new HashMap<>();
    /** The GPUs that each job still has. */
    private final Map<JobId, List<GpuId>> held = new HashMap<>();

    private final Map<GpuId, JobId> borrowers = new HashMap<>();
    /** Bundles that jobs still have, by name. */
    private final SortedMap<String, LoanBundle> left = new TreeMap<>();

    /**
     * A bundle that was weighed.
     *
     * @param loans the GPUs that each job loses, by job
     * @param loss for each GPU of the bundle
     */
    private record Weighed(LoanBundle bundle, SortedMap<JobId, List<GpuId>> loans, double loss) {}

    BundleLoss(ClusterView cluster, SpeedMeasure measure) {
        this.cluster = cluster;
        this.measure = measure;
        for (JobView job : cluster.holding()) {
            jobs.put(job.job(), job);
            held.put(job.job(), job.gpus());
        }
        for (Map.Entry<JobId, Loans> lent : cluster.loans()) {
            if (jobs.containsKey(lent.getKey())) {
                lent.getValue().ids().forEach(gpu -> borrowers.put(gpu, lent.getKey()));
            }
        }
        Set<GpuId> single = new HashSet<>(borrowers.keySet());
        for (LoanBundle bundle : cluster.bundles()) {
            if (bundle.gpus().stream().anyMatch(borrowers::containsKey)) {
                left.put(bundle.name(), bundle);
            }
            bundle.gpus().forEach(single::remove);
        }
        single.forEach(gpu -> left.put(gpu.value(), new LoanBundle(gpu.value(), List.of(gpu))));
    }

    /** Loans to take back, with which inference gets at least {@code count} GPUs, unless fewer are left. */
    List<GpuId> victims(int count) {
        List<GpuId> taken = new ArrayList<>();
        choose(count, (least, others) -> least.loans().values().forEach(taken::addAll));
        return taken;
    }

    /** The bundles that {@link #victims} weighed: the chosen ones in their order, then the rest, least loss first. */
    List<Alternative> losses(int count) {
        List<Alternative> losses = new ArrayList<>();
        List<Alternative> rest = new ArrayList<>();
        choose(count, (least, others) -> {
            losses.add(alternative(least, true, "training loses the least speed for each GPU by it"));
            rest.clear();
            others.forEach(other ->
                    rest.add(alternative(other, false, "training would lose as much speed for each GPU or more")));
        });
        rest.sort(Comparator.comparingDouble(Alternative::score));
        losses.addAll(rest);
        return losses;
    }

    private void choose(int count, BiConsumer<Weighed, List<Weighed>> round) {
        int got = 0;
        while (got < count) {
            List<Weighed> weighed = weighed();
            Optional<Weighed> least = weighed.stream().min(Comparator.comparingDouble(Weighed::loss));
            if (least.isEmpty()) {
                return;
            }
            weighed.remove(least.get());
            round.accept(least.get(), weighed);
            take(least.get());
            got += least.get().bundle().gpus().size();
        }
    }

    private List<Weighed> weighed() {
        List<Weighed> all = new ArrayList<>();
        for (LoanBundle bundle : left.values()) {
            SortedMap<JobId, List<GpuId>> loans = loans(bundle);
            if (!loans.isEmpty()) {
                double loss = 0;
                for (Map.Entry<JobId, List<GpuId>> lost : loans.entrySet()) {
                    loss += loss(lost.getKey(), lost.getValue());
                }
                all.add(new Weighed(bundle, loans, loss / bundle.gpus().size()));
            }
        }
        return all;
    }

    /** The GPUs of a bundle that jobs still have, by job. */
    private SortedMap<JobId, List<GpuId>> loans(LoanBundle bundle) {
        SortedMap<JobId, List<GpuId>> loans = new TreeMap<>();
        for (GpuId gpu : bundle.gpus()) {
            Optional<JobId> job = Optional.ofNullable(borrowers.get(gpu));
            job.filter(name -> has(name, gpu))
                    .ifPresent(name -> loans.computeIfAbsent(name, any -> new ArrayList<>())
                            .add(gpu));
        }
        return loans;
    }

    private boolean has(JobId job, GpuId gpu) {
        return held.getOrDefault(job, List.of()).contains(gpu);
    }

    private double loss(JobId job, List<GpuId> lost) {
        return speedup(job, held.getOrDefault(job, List.of())) - speedup(job, rest(job, lost));
    }

    private double speedup(JobId name, List<GpuId> gpus) {
        long nodes = gpus.stream().map(cluster::node).distinct().count();
        return Optional.ofNullable(jobs.get(name))
                .map(job -> measure.speed(job, (int) nodes, job.fit(gpus.size())))
                .orElse(0.0);
    }

    /** What a job may go on with: nothing if it is not elastic, or if the rest is too little. */
    private List<GpuId> rest(JobId name, List<GpuId> lost) {
        List<GpuId> rest = new ArrayList<>(held.getOrDefault(name, List.of()));
        rest.removeAll(lost);
        boolean goesOn = Optional.ofNullable(jobs.get(name))
                .filter(job -> job.elastic() && rest.size() >= job.minGpus() && job.fit(rest.size()) > 0)
                .isPresent();
        return goesOn ? rest : List.of();
    }

    private void take(Weighed weighed) {
        left.remove(weighed.bundle().name());
        weighed.loans().forEach((job, lost) -> held.put(job, rest(job, lost)));
    }

    private Alternative alternative(Weighed weighed, boolean chosen, String why) {
        JobId first = weighed.loans().firstKey();
        int size = rest(first, weighed.loans().getOrDefault(first, List.of())).size();
        String loss = "loss of training speed for each GPU that inference gets (1 = " + measure.unit() + ")";
        return new Alternative(first, weighed.bundle().gpus(), size, weighed.loss(), loss, chosen, why);
    }
}
