package io.lendstream.core.policy.ats;

import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.lendable;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobSite;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.NodeLayout;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.policy.Views;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeastLossTest {
    @Test
    void takesFromTheJobThatGainsLeastFromItsLastGpu() {
        ClusterView view = lendable(
                List.of(
                        borrower("steep", true, 1.0, gpu(0, 0), gpu(1, 0), gpu(1, 1)),
                        borrower("flat", true, 0.1, gpu(0, 1), gpu(1, 2))),
                2,
                4);

        assertThat(new Ats(view).victims(1)).containsExactly(gpu(1, 2));
        assertThat(new Ats(view).victims(2)).containsExactly(gpu(1, 2), gpu(1, 0));
    }

    @Test
    void aJobThatCannotShrinkGivesAllItsLoans() {
        ClusterView view = lendable(List.of(borrower("rigid", false, 0.5, gpu(0, 0), gpu(1, 0), gpu(1, 1))), 1, 2);

        assertThat(new Ats(view).victims(1)).containsExactly(gpu(1, 0), gpu(1, 1));
        assertThat(new Ats(view).victims(3)).hasSize(2);
    }

    @Test
    void aJobInAShapeGivesAllLoansUpToItsNextSize() {
        JobView plain = borrower("pairs", true, 0.5, gpu(1, 0), gpu(1, 1), gpu(1, 2), gpu(1, 3));
        JobShape pairs = JobShape.multiples(2);
        JobView shaped = new ShapedJob(plain, pairs, JobSite.of(pairs, NO_NODES), Optional.empty());
        ClusterView view = lendable(List.of(shaped), 1, 4);

        assertThat(new Ats(view).victims(1)).hasSize(2);
        assertThat(new Ats(view).victims(2)).hasSize(2);
        assertThat(new Ats(view).victims(3)).hasSize(4);
        assertThat(new Ats(view).losses(1))
                .filteredOn(Alternative::chosen)
                .singleElement()
                .satisfies(chosen -> {
                    assertThat(chosen.gpus()).hasSize(2);
                    assertThat(chosen.size()).isEqualTo(2);
                });
    }

    /** A layout that a job without rules about nodes never asks. */
    private static final NodeLayout NO_NODES = new NodeLayout() {
        @Override
        public int gpusOf(NodeId node) {
            throw new AssertionError("asked for " + node);
        }

        @Override
        public String domain(NodeId node, TopologyLevel level) {
            throw new AssertionError("asked for " + node);
        }
    };

    /** Against a choice that computes every loss again each time, as the paper describes. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void choosesAsIfEveryLossWereComputedAgainEachTime(long seed) {
        ClusterView view = random(new SplittableRandom(seed));
        int lent = (int) view.gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Lent)
                .count();
        assertThat(lent).isGreaterThan(3);
        for (int count = 1; count <= lent + 1; count++) {
            List<GpuId> victims = new Ats(view).victims(count);
            assertThat(victims).isEqualTo(plainly(view, count)).doesNotHaveDuplicates();
            assertThat(new Ats(view)
                            .losses(count).stream()
                                    .filter(Alternative::chosen)
                                    .flatMap(chosen -> chosen.gpus().stream())
                                    .toList())
                    .isEqualTo(victims);
        }
    }

    @Test
    void theChosenLoansAreListedFirstAndTheRestByTheirLoss() {
        ClusterView view = lendable(
                List.of(
                        borrower("a", true, 1.0, gpu(0, 0), gpu(1, 0), gpu(2, 0)),
                        borrower("c", true, 0.1, gpu(0, 1), gpu(1, 1), gpu(2, 1)),
                        borrower("b", true, 0.5, gpu(0, 2), gpu(1, 2), gpu(2, 2))),
                3,
                3,
                3);

        List<Alternative> losses = new Ats(view).losses(2);

        assertThat(losses)
                .extracting(Alternative::chosen)
                .startsWith(true, true, false)
                .hasSizeGreaterThan(4);
        assertThat(losses.stream().filter(Alternative::chosen).flatMap(each -> each.gpus().stream()))
                .containsExactlyElementsOf(new Ats(view).victims(2));
        assertThat(losses.subList(2, losses.size()))
                .noneMatch(Alternative::chosen)
                .extracting(Alternative::score)
                .isSorted();
    }

    private static List<GpuId> plainly(ClusterView view, int count) {
        Ats ats = new Ats(view);
        Map<GpuId, NodeId> nodes = new HashMap<>();
        view.gpus().forEach(gpu -> nodes.put(gpu.gpuId(), gpu.nodeId()));
        Map<JobId, List<GpuId>> held = new HashMap<>();
        view.jobs().forEach(job -> held.put(job.job(), new ArrayList<>(job.gpus())));
        List<GpuId> taken = new ArrayList<>();
        while (taken.size() < count) {
            double least = Double.POSITIVE_INFINITY;
            Optional<JobView> loser = Optional.empty();
            List<GpuId> loss = List.of();
            for (JobView job : view.jobs().stream()
                    .sorted((one, other) -> one.job().compareTo(other.job()))
                    .toList()) {
                List<GpuId> now = held.get(job.job());
                List<GpuId> lent = view.gpus().stream()
                        .filter(gpu -> gpu.owner() instanceof Owner.Lent loan
                                && loan.job().equals(job.job())
                                && !taken.contains(gpu.gpuId()))
                        .map(GpuState::gpuId)
                        .toList();
                for (GpuId gpu : lent) {
                    boolean one = job.elastic() && now.size() > job.minGpus();
                    List<GpuId> rest = one
                            ? now.stream().filter(other -> !other.equals(gpu)).toList()
                            : List.of();
                    double costs = speedup(ats, job, now, nodes) - speedup(ats, job, rest, nodes);
                    if (costs < least) {
                        least = costs;
                        loser = Optional.of(job);
                        loss = one ? List.of(gpu) : lent;
                    }
                }
            }
            if (loser.isEmpty()) {
                return taken;
            }
            taken.addAll(loss);
            held.get(loser.get().job()).removeAll(loss);
        }
        return taken;
    }

    private static double speedup(Ats ats, JobView job, List<GpuId> gpus, Map<GpuId, NodeId> nodes) {
        return ats.speedup(job, (int) gpus.stream().map(nodes::get).distinct().count(), gpus.size());
    }

    private static ClusterView random(SplittableRandom random) {
        List<List<GpuId>> held = new ArrayList<>();
        int jobs = random.nextInt(2, 7);
        for (int i = 0; i < jobs; i++) {
            held.add(new ArrayList<>());
        }
        for (int node = 0; node < 5; node++) {
            for (int slot = 0; slot < 4; slot++) {
                if (random.nextInt(4) > 0) {
                    held.get(random.nextInt(jobs)).add(gpu(node, slot));
                }
            }
        }
        List<JobView> views = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            views.add(borrower(
                    "job" + i,
                    random.nextInt(3) > 0,
                    0.1 + random.nextDouble(),
                    held.get(i).toArray(GpuId[]::new)));
        }
        return lendable(views, 4, 4, 4, 4, 4);
    }

    /** A job whose goodput grows with its GPUs to a power, and halves beyond one node. */
    private static JobView borrower(String name, boolean elastic, double exponent, GpuId... gpus) {
        Goodput goodput = (nodes, replicas) -> Math.pow(replicas, exponent) * (nodes > 1 ? 0.5 + 0.1 / nodes : 1);
        return new DescribedJob(
                job(name),
                Views.NOW.minusSeconds(600),
                new TrainingJob.Scaling(Math.max(1, gpus.length), 1, 20, elastic),
                List.of(gpus),
                new DescribedJob.Usage(gpus.length, 0, 0),
                Optional.of(goodput),
                Views.pace(1, 1),
                Optional.empty(),
                Views.COSTS);
    }
}
