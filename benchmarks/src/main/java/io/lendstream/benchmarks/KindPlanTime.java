package io.lendstream.benchmarks;

import io.lendstream.core.goodput.KnownGoodput;
import io.lendstream.core.goodput.SpeedOnKind;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.ModelGoodput;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.WrappedJob;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The planning time of {@code deepboot} for 10,000 GPUs of four kinds, beside that of the same GPUs as one kind. A job
 * is faster on each next kind by a ratio of its own. As in the scheduler, goodput is kept from one plan to the next.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class KindPlanTime {
    static final int GPUS = 10_000;
    private static final int KINDS = 4;

    private final Policy policy = Policies.parse("deepboot");
    private final KindChooser chooser = policy.kinds().orElseThrow();
    private final ClusterView whole = kept(PlanTime.draw(GPUS));
    private final SortedMap<KindId, ClusterView> kinds = kinds(whole);

    /** A job on a kind, with the mean of its goodput on all kinds. */
    private record OnKind(JobView whole, Goodput mean) implements WrappedJob {
        @Override
        public Optional<Goodput> usualGoodput() {
            return Optional.of(mean);
        }
    }

    private static ModelGoodput on(KnownGoodput known, double factor) {
        return new ModelGoodput(new SpeedOnKind(known, factor));
    }

    private static ClusterView kept(ClusterView all) {
        List<JobView> jobs = new ArrayList<>();
        for (JobView job : all.jobs()) {
            PlanTime.Modelled drawn = (PlanTime.Modelled) job.goodput().orElseThrow();
            jobs.add(described(job, job.gpus(), on(new KnownGoodput(drawn.model()), 1)));
        }
        return new ClusterView(all.now(), jobs, all.gpus(), Set.of(), all.nodes(), all.gpusPerNode(), all.waiting());
    }

    /** The GPUs of each kind, every fourth node's, with all jobs. */
    private static SortedMap<KindId, ClusterView> kinds(ClusterView whole) {
        SortedMap<KindId, ClusterView> kinds = new TreeMap<>();
        for (int k = 0; k < KINDS; k++) {
            int kind = k;
            List<JobView> jobs = new ArrayList<>();
            for (JobView job : whole.jobs()) {
                jobs.add(on(kind, job));
            }
            List<GpuState> gpus = whole.gpus().stream()
                    .filter(gpu -> kindOf(gpu.gpuId()) == kind)
                    .toList();
            kinds.put(new KindId("kind-" + k), view(whole, jobs, gpus));
        }
        return kinds;
    }

    private static ClusterView view(ClusterView whole, List<JobView> jobs, List<GpuState> gpus) {
        return new ClusterView(
                whole.now(), jobs, gpus, Set.of(), whole.nodes() / KINDS, whole.gpusPerNode(), whole.waiting());
    }

    private static int kindOf(GpuId gpu) {
        return PlanTime.node(gpu) % KINDS;
    }

    /** A job with its GPUs of a kind. It holds those of the kind of its first GPU only. */
    private static JobView on(int kind, JobView job) {
        int home = job.gpus().isEmpty() ? 0 : kindOf(job.gpus().get(0));
        List<GpuId> held = job.gpus().stream()
                .filter(gpu -> home == kind && kindOf(gpu) == kind)
                .toList();
        KnownGoodput known =
                ((ModelGoodput) job.goodput().orElseThrow()).speed().known();
        double mean = 0;
        for (int k = 0; k < KINDS; k++) {
            mean += ratio(job, k) / KINDS;
        }
        return new OnKind(described(job, held, on(known, ratio(job, kind))), on(known, mean));
    }

    /** How much faster a job is on a kind than on the first one. */
    private static double ratio(JobView job, int kind) {
        return Math.pow(1 + (job.job().hashCode() & 7) / 8.0, kind);
    }

    private static JobView described(JobView job, List<GpuId> held, Goodput goodput) {
        return new DescribedJob(
                job.job(),
                job.submittedAt(),
                PlanTime.SCALING,
                held,
                new DescribedJob.Usage(job.largestRun(), job.changes(), job.attainedGpuSeconds()),
                Optional.of(goodput),
                job.pace(),
                Optional.empty(),
                job.costs());
    }

    @Benchmark
    public Plan planOfOneKind() {
        return policy.plan(whole);
    }

    @Benchmark
    public List<Plan> planOfFourKinds() {
        Map<JobId, KindId> chosen = chooser.choose(kinds);
        List<Plan> plans = new ArrayList<>();
        kinds.forEach((kind, pool) -> {
            List<JobView> jobs = pool.jobs().stream()
                    .filter(job -> kind.equals(chosen.get(job.job())))
                    .toList();
            plans.add(policy.plan(view(whole, jobs, pool.gpus())));
        });
        return plans;
    }
}
