package io.lendstream.core.policy.placement;

/**
 * The best pools of jobs where pools are small: an exact program over jobs and the room in all pools.
 *
 * @see <a href="https://doi.org/10.1007/978-3-540-24777-7">Kellerer, Pferschy, Pisinger: Knapsack Problems, section
 *     9: several dimensions</a>
 */
final class RoomProgram {
    /** Rooms, times sizes of all jobs. */
    private static final long MOST = 500_000;

    private final PooledValues values;
    private final int pools;
    /** How far apart two rooms are that differ by a GPU of a pool. */
    private final int[] steps;

    private final int rooms;

    private RoomProgram(PooledValues values) {
        this.values = values;
        this.pools = values.pools();
        this.steps = new int[pools];
        int count = 1;
        for (int k = 0; k < pools; k++) {
            steps[k] = count;
            count *= values.capacity(k) + 1;
        }
        this.rooms = count;
    }

    /** Whether the program is short. */
    static boolean isShort(PooledValues values) {
        long states = 1;
        for (int k = 0; k < values.pools() && states <= MOST; k++) {
            states *= values.capacity(k) + 1L;
        }
        long sizes = 0;
        for (int j = 0; j < values.jobs(); j++) {
            for (int k = 0; k < values.pools(); k++) {
                sizes += values.of(k, j).length;
            }
        }
        return states <= MOST && states * sizes <= MOST;
    }

    /**
     * The pool of each job.
     *
     * @param otherwise those of jobs that get nothing
     */
    static int[] division(PooledValues values, int[] otherwise) {
        return new RoomProgram(values).division(otherwise);
    }

    private int[] division(int[] otherwise) {
        int jobs = values.jobs();
        int[][] taken = new int[jobs][rooms];
        double[] best = new double[rooms];
        for (int j = 0; j < jobs; j++) {
            best = with(j, best, taken[j]);
        }
        int[] division = otherwise.clone();
        int room = rooms - 1;
        for (int j = jobs - 1; j >= 0; j--) {
            int choice = taken[j][room];
            if (choice > 0) {
                division[j] = choice % pools;
                room -= choice / pools * steps[division[j]];
            }
        }
        return division;
    }

    /**
     * The most that jobs are worth in each room, with one more job.
     *
     * @param taken where the choices of the job go: its size times the number of pools, plus the pool; 0 for nothing
     */
    private double[] with(int job, double[] before, int[] taken) {
        double[] best = before.clone();
        for (int k = 0; k < pools; k++) {
            double[] own = values.of(k, job);
            int capacity = values.capacity(k);
            for (int room = 0; room < rooms; room++) {
                int free = room / steps[k] % (capacity + 1);
                for (int w = 1; w < own.length && w <= free; w++) {
                    double sum = own[w] + before[room - w * steps[k]];
                    if (sum > best[room]) {
                        best[room] = sum;
                        taken[room] = w * pools + k;
                    }
                }
            }
        }
        return best;
    }
}
