package io.lendstream.core.policy.published;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.policy.published.PolluxSearch.Found;
import io.lendstream.core.policy.published.PolluxSearch.Job;
import io.lendstream.core.policy.published.PolluxSearch.Problem;
import io.lendstream.core.policy.published.PolluxSearch.Settings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PolluxSearchTest {
    private static final List<Integer> TWO_NODES = List.of(4, 4);

    @Test
    void twoEqualJobsGetANodeEach() {
        var problem = new Problem(List.of(job(0.8, 1), job(0.8, 1)), TWO_NODES);

        Found found = PolluxSearch.search(problem, Settings.DEEPBOOT, List.of(), 1);

        assertThat(found.best()).containsExactlyInAnyOrder(List.of(4, 0), List.of(0, 4));
    }

    @Test
    void aJobThatWouldLoseMuchByARestartKeepsWhatItHas() {
        Job settled = new Job((nodes, replicas) -> replicas, List.of(2, 0), 1, 8, 0.1);

        Found found = PolluxSearch.search(new Problem(List.of(settled), TWO_NODES), Settings.DEEPBOOT, List.of(), 1);

        assertThat(found.best()).containsExactly(List.of(2, 0));
    }

    @Test
    void noNodeHasTwoJobsThatSpanNodesAndNoJobMoreThanItMay() {
        SplittableRandom random = new SplittableRandom(5);
        for (int run = 0; run < 50; run++) {
            List<Integer> capacity = random.ints(4, 0, 9).boxed().toList();
            Problem problem = new Problem(randomJobs(random, 1 + random.nextInt(8), capacity), capacity);

            Found found = PolluxSearch.search(problem, new Settings(10, 10, 0.9, 3), List.of(), run);

            for (List<List<Integer>> matrix : found.population()) {
                assertThat(isAllowed(problem, matrix, 3)).as("run %d", run).isTrue();
            }
        }
    }

    @Test
    void comesNearTheBestOfAllAllocations() {
        SplittableRandom random = new SplittableRandom(11);
        int exact = 0;
        for (int run = 0; run < 40; run++) {
            Problem problem = new Problem(randomJobs(random, 3, TWO_NODES), TWO_NODES);
            double best = bestOfAll(problem, List.of());

            double found = PolluxSearch.search(problem, Settings.DEEPBOOT, List.of(), run)
                    .powerMean();

            assertThat(found).as("run %d", run).isBetween(0.9 * best, best * (1 + 1e-12));
            exact += found > best * (1 - 1e-9) ? 1 : 0;
        }
        assertThat(exact).isGreaterThanOrEqualTo(36);
    }

    @Test
    void equalSeedsGiveEqualAllocationsAndAnEarlierPopulationIsAStart() {
        List<Integer> capacity = List.of(4, 4, 4, 4);
        Problem problem = new Problem(randomJobs(new SplittableRandom(2), 9, capacity), capacity);
        Settings quick = new Settings(20, 10, 0.9, 16);

        Found once = PolluxSearch.search(problem, quick, List.of(), 7);
        Found again = PolluxSearch.search(problem, quick, List.of(), 7);
        Found further = PolluxSearch.search(problem, quick, once.population(), 8);

        assertThat(again.best()).isEqualTo(once.best());
        assertThat(further.powerMean()).isGreaterThanOrEqualTo(once.powerMean());
    }

    @Test
    void withoutJobsThereIsNothingToPlace() {
        Found found = PolluxSearch.search(new Problem(List.of(), TWO_NODES), Settings.DEEPBOOT, List.of(), 1);

        assertThat(found.best()).isEmpty();
    }

    /** A job that runs nowhere yet and whose speedup is a power of its GPUs, a fifth less across nodes. */
    private static Job job(double power, double restartFactor) {
        return new Job(
                (nodes, replicas) -> Math.pow(replicas, power) * (nodes > 1 ? 0.8 : 1),
                List.of(0, 0),
                1,
                8,
                restartFactor);
    }

    private static List<Job> randomJobs(SplittableRandom random, int count, List<Integer> capacity) {
        List<Job> jobs = new ArrayList<>();
        List<Integer> left = new ArrayList<>(capacity);
        for (int i = 0; i < count; i++) {
            List<Integer> current = new ArrayList<>(Collections.nCopies(capacity.size(), 0));
            int node = random.nextInt(capacity.size());
            current.set(node, random.nextInt(left.get(node) + 1));
            left.set(node, left.get(node) - current.get(node));
            double power = random.nextDouble(0.3, 1);
            double spread = random.nextDouble(0.5, 1);
            jobs.add(new Job(
                    (nodes, replicas) -> Math.pow(replicas, power) * (nodes > 1 ? spread : 1),
                    current,
                    1 + random.nextInt(2),
                    2 + random.nextInt(7),
                    random.nextDouble()));
        }
        return jobs;
    }

    private static boolean isAllowed(Problem problem, List<List<Integer>> matrix, int mostNodes) {
        int nodes = problem.capacity().size();
        int[] used = new int[nodes];
        int[] spanning = new int[nodes];
        for (int j = 0; j < matrix.size(); j++) {
            List<Integer> row = matrix.get(j);
            int replicas = sum(row);
            long span = row.stream().filter(count -> count > 0).count();
            Job job = problem.jobs().get(j);
            if (replicas > 0 && (replicas < job.least() || replicas > job.most() || span > mostNodes)) {
                return false;
            }
            for (int n = 0; n < nodes; n++) {
                used[n] += row.get(n);
                spanning[n] += span > 1 && row.get(n) > 0 ? 1 : 0;
            }
        }
        return IntStream.range(0, nodes)
                .allMatch(n -> used[n] <= problem.capacity().get(n) && spanning[n] <= 1);
    }

    private static int sum(List<Integer> row) {
        return row.stream().mapToInt(Integer::intValue).sum();
    }

    private static double bestOfAll(Problem problem, List<List<Integer>> rows) {
        if (rows.size() == problem.jobs().size()) {
            return isAllowed(problem, rows, 16) ? powerMean(problem, rows) : 0;
        }
        double best = 0;
        for (int a = 0; a <= 4; a++) {
            for (int b = 0; b <= 4; b++) {
                List<List<Integer>> more = new ArrayList<>(rows);
                more.add(List.of(a, b));
                best = Math.max(best, bestOfAll(problem, more));
            }
        }
        return best;
    }

    private static double powerMean(Problem problem, List<List<Integer>> rows) {
        double inverse = 0;
        for (int j = 0; j < rows.size(); j++) {
            Job job = problem.jobs().get(j);
            List<Integer> now = job.current();
            List<Integer> next = rows.get(j);
            int nodes = (next.get(0) > 0 ? 1 : 0) + (next.get(1) > 0 ? 1 : 0);
            double speedup = nodes == 0 ? 0 : job.speedup().on(nodes, sum(next));
            boolean grows = next.get(0) > now.get(0) || next.get(1) > now.get(1);
            boolean shrinks = next.get(0) < now.get(0) || next.get(1) < now.get(1);
            speedup *= (grows || shrinks ? job.restartFactor() : 1) * (grows && shrinks ? 0.9 : 1);
            inverse += 1 / Math.max(0.01, speedup);
        }
        return rows.size() / inverse;
    }
}
