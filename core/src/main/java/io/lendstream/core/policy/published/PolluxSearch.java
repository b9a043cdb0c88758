package io.lendstream.core.policy.published;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Pollux's search for an allocation: NSGA-II over matrices of the GPUs of each node for each job.
 *
 * <p>The first objective is the power mean (p = -1) of the jobs' speedups, each weighed by its restart factor if its
 * row differs from what it has now; it rewards that all jobs get on. The second is the sum of speedups. The result is
 * the matrix with the best first objective. Published speedups also carry the share of the cluster that a GPU is, which
 * is the same for all jobs here and left out.
 *
 * <p>Children take each job's row from one parent or the other, and change about two rows: back to what it is now, to
 * fewer on some nodes, or to more. Then they are repaired: no node has two jobs that span nodes, no job has more GPUs
 * or nodes than it may, no node gives more than it has, and jobs that come first in the list win. Equal problems,
 * starts and seeds give equal results. O(generations x population x (jobs x nodes + population)).
 *
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, sections 4.2 and 4.3</a>
 * @see <a href="https://doi.org/10.1109/4235.996017">Deb et al.: NSGA-II, 2002</a>
 */
public final class PolluxSearch {
    /** The assumed speedup of a job without GPUs, so that plans for more jobs than GPUs differ in value. */
    private static final double WAITING_SPEEDUP = 0.01;

    private static final double RESET = 0.1;

    private final Problem problem;
    private final Settings settings;
    private final SplittableRandom random;
    private final int jobs;
    private final int nodes;
    private final int[] capacity;
    private final int[][] current;
    private final int mostReplicas;
    private final double[][] speedups;
    private final boolean[] spanned;
    private final int[] room;

    /** A job's speedup over a fair share of the cluster. */
    @FunctionalInterface
    public interface Speedup {
        double on(int nodes, int replicas);
    }

    /** The replicas on each node that a job may have, beside its range. */
    @FunctionalInterface
    public interface RowRule {
        /** Any. */
        RowRule ANY = (row, room) -> {};

        /**
         * Changes a row to one that the job may have.
         *
         * @param row replicas on each node, within the room
         * @param room GPUs that are left on each node
         */
        void repair(int[] row, int[] room);
    }

    /**
     * A job to be placed.
     *
     * @param current replicas that it has now on each node
     * @param least fewest replicas it can run with
     * @param most most it may have
     * @param restartFactor the share of its speedup that is left if its row changes
     * @param rule the rows that it may have
     */
    public record Job(Speedup speedup, List<Integer> current, int least, int most, double restartFactor, RowRule rule) {
        public Job {
            current = List.copyOf(current);
        }

        /** A job that may have any row. */
        public Job(Speedup speedup, List<Integer> current, int least, int most, double restartFactor) {
            this(speedup, current, least, most, restartFactor, RowRule.ANY);
        }
    }

    /**
     * The problem to solve.
     *
     * @param jobs the jobs; in a conflict the earlier one wins
     * @param capacity GPUs of each node
     */
    public record Problem(List<Job> jobs, List<Integer> capacity) {
        public Problem {
            jobs = List.copyOf(jobs);
            capacity = List.copyOf(capacity);
            for (Job job : jobs) {
                if (job.current.size() != capacity.size()) {
                    throw new IllegalArgumentException("a job has replicas on %d nodes, but there are %d nodes"
                            .formatted(job.current.size(), capacity.size()));
                }
            }
        }
    }

    /**
     * The settings of the search.
     *
     * @param moveFactor the share of a job's speedup that is left if it gains GPUs on some nodes and loses some on
     *     others
     * @param mostNodes most nodes that a job may span
     */
    public record Settings(int population, int generations, double moveFactor, int mostNodes) {
        /** As in the artefact of the Pollux paper. */
        public static final Settings POLLUX = new Settings(100, 100, 1, 16);
        /** As in the evaluation of DeepBoot. */
        public static final Settings DEEPBOOT = new Settings(50, 50, 0.9, 16);

        public Settings {
            if (population < 2 || generations < 0 || mostNodes < 1) {
                throw new IllegalArgumentException(
                        "a search needs a population of at least 2, 0 generations or more and a node for each job, but had %d, %d and %d"
                                .formatted(population, generations, mostNodes));
            }
        }
    }

    /**
     * The result of a search. An allocation has, by job, its replicas on each node.
     *
     * @param powerMean first objective of the best allocation
     * @param population the last generation, the best first, from which the next search may start
     */
    public record Found(List<List<Integer>> best, double powerMean, List<List<List<Integer>>> population) {}

    private PolluxSearch(Problem problem, Settings settings, long seed) {
        this.problem = problem;
        this.settings = settings;
        this.random = new SplittableRandom(seed);
        this.jobs = problem.jobs.size();
        this.nodes = problem.capacity.size();
        this.capacity = row(problem.capacity);
        this.current = problem.jobs.stream().map(job -> row(job.current)).toArray(int[][]::new);
        int gpus = Arrays.stream(capacity).sum();
        this.mostReplicas = problem.jobs.stream()
                .mapToInt(job -> Math.min(gpus, job.most))
                .max()
                .orElse(0);
        this.speedups = new double[jobs][(Math.min(nodes, settings.mostNodes) + 1) * (mostReplicas + 1)];
        for (double[] known : speedups) {
            Arrays.fill(known, Double.NaN);
        }
        this.spanned = new boolean[nodes];
        this.room = new int[nodes];
    }

    /**
     * Searches.
     *
     * @param starts allocations to begin with, beside the current one; such as an earlier search's population
     */
    public static Found search(Problem problem, Settings settings, List<List<List<Integer>>> starts, long seed) {
        return new PolluxSearch(problem, settings, seed).run(starts);
    }

    private Found run(List<List<List<Integer>>> starts) {
        if (jobs == 0) {
            return new Found(List.of(), 0, List.of());
        }
        List<SearchState> population = new ArrayList<>();
        population.add(evaluated(copy(current)));
        for (List<List<Integer>> start : starts) {
            if (population.size() < settings.population) {
                population.add(evaluated(matrix(start)));
            }
        }
        for (int i = 0; population.size() < settings.population; i++) {
            int[][] child = copy(population.get(i).matrix);
            mutate(child, jobs);
            population.add(evaluated(child));
        }
        ParetoFronts.rank(population);
        for (int generation = 0; generation < settings.generations; generation++) {
            List<SearchState> all = new ArrayList<>(population);
            for (int i = 0; i < settings.population; i++) {
                int[][] child = cross(parent(population).matrix, parent(population).matrix);
                mutate(child, 2);
                all.add(evaluated(child));
            }
            ParetoFronts.rank(all);
            population = new ArrayList<>(all.subList(0, settings.population));
        }
        population.sort((a, b) -> Double.compare(b.powerMean, a.powerMean));
        SearchState best = population.get(0);
        return new Found(
                rows(best.matrix),
                best.powerMean,
                population.stream().map(state -> rows(state.matrix)).toList());
    }

    private static int[][] matrix(List<List<Integer>> rows) {
        return rows.stream().map(PolluxSearch::row).toArray(int[][]::new);
    }

    private static int[] row(List<Integer> replicas) {
        return replicas.stream().mapToInt(Integer::intValue).toArray();
    }

    private static List<List<Integer>> rows(int[][] matrix) {
        return Arrays.stream(matrix)
                .map(row -> Arrays.stream(row).boxed().toList())
                .toList();
    }

    private static int[][] copy(int[][] matrix) {
        int[][] copy = new int[matrix.length][];
        for (int j = 0; j < matrix.length; j++) {
            copy[j] = matrix[j].clone();
        }
        return copy;
    }

    private SearchState parent(List<SearchState> population) {
        SearchState one = population.get(random.nextInt(population.size()));
        SearchState other = population.get(random.nextInt(population.size()));
        return other.isBefore(one) ? other : one;
    }

    private int[][] cross(int[][] mother, int[][] father) {
        int[][] child = new int[jobs][];
        for (int j = 0; j < jobs; j++) {
            child[j] = (random.nextBoolean() ? mother : father)[j].clone();
        }
        return child;
    }

    /** Changes about so many rows. */
    private void mutate(int[][] matrix, int rows) {
        for (int j = 0; j < jobs; j++) {
            if (random.nextInt(jobs) >= rows) {
                continue;
            }
            int[] row = matrix[j];
            if (random.nextDouble() < RESET) {
                System.arraycopy(current[j], 0, row, 0, nodes);
                continue;
            }
            boolean shrinks = random.nextBoolean();
            int used = count(row);
            for (int n = 0; n < nodes; n++) {
                if (shrinks && row[n] > 0 && random.nextInt(used) == 0) {
                    row[n] = random.nextInt(row[n]);
                } else if (!(shrinks && row[n] > 0) && random.nextInt(2 * (row[n] > 0 ? used : nodes - used)) == 0) {
                    row[n] += random.nextInt(Math.max(0, capacity[n] - row[n]) + 1);
                }
            }
        }
    }

    private SearchState evaluated(int[][] matrix) {
        repair(matrix);
        double inverse = 0;
        double sum = 0;
        for (int j = 0; j < jobs; j++) {
            double speedup = speedup(j, matrix[j]);
            sum += speedup;
            inverse += 1 / Math.max(WAITING_SPEEDUP, speedup);
        }
        return new SearchState(matrix, jobs / inverse, sum);
    }

    private double speedup(int j, int[] row) {
        int used = 0;
        int replicas = 0;
        boolean grows = false;
        boolean shrinks = false;
        Job job = problem.jobs.get(j);
        for (int n = 0; n < nodes; n++) {
            used += row[n] > 0 ? 1 : 0;
            replicas += row[n];
            grows |= row[n] > current[j][n];
            shrinks |= row[n] < current[j][n];
        }
        if (replicas == 0) {
            return 0;
        }
        int place = used * (mostReplicas + 1) + replicas;
        double speedup = speedups[j][place];
        if (Double.isNaN(speedup)) {
            speedup = job.speedup.on(used, replicas);
            speedups[j][place] = speedup;
        }
        return speedup * (grows || shrinks ? job.restartFactor : 1) * (grows && shrinks ? settings.moveFactor : 1);
    }

    private void repair(int[][] matrix) {
        Arrays.fill(spanned, false);
        System.arraycopy(capacity, 0, room, 0, nodes);
        for (int j = 0; j < jobs; j++) {
            int[] row = matrix[j];
            Job job = problem.jobs.get(j);
            boolean spans = count(row) > 1;
            int replicas = 0;
            int used = 0;
            for (int n = 0; n < nodes; n++) {
                boolean refused = used == settings.mostNodes || (spans && spanned[n]);
                row[n] = refused ? 0 : Math.min(Math.min(row[n], room[n]), job.most - replicas);
                replicas += row[n];
                used += row[n] > 0 ? 1 : 0;
            }
            if (job.rule != RowRule.ANY) {
                job.rule.repair(row, room);
                replicas = Arrays.stream(row).sum();
                used = count(row);
            }
            if (replicas < job.least || used > settings.mostNodes) {
                Arrays.fill(row, 0);
            }
            for (int n = 0; n < nodes; n++) {
                room[n] -= row[n];
                spanned[n] |= row[n] > 0 && used > 1;
            }
        }
    }

    private static int count(int[] row) {
        int used = 0;
        for (int replicas : row) {
            used += replicas > 0 ? 1 : 0;
        }
        return used;
    }
}
