package io.lendstream.simulator.workload;

import io.lendstream.core.event.JobPhase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Makes up the training of a shared cluster as Microsoft's Philly had it: sessions of people who submit one job or many
 * alike, at any hour; durations over five orders of magnitude that depend on the number of GPUs; and many jobs that
 * fail or are killed. The parameters were fitted to the reduced job list of 2017, without its two tenants that submit
 * by the hundred; sessions of more than ten jobs, of which those two have most, are of single GPUs.
 *
 * @see <a href="https://www.usenix.org/conference/atc19/presentation/jeon">Analysis of Large-Scale Multi-Tenant GPU
 *     Clusters, ATC 2019</a>
 */
final class SessionGenerator {
    /** A session's jobs come within this many seconds of one another. */
    static final int GAP_SECONDS = 60;

    /** Longer jobs, which are 1 in 100, are cut. */
    static final double LONGEST_SECONDS = 3 * 86_400;

    private static final int LARGEST_MIXED_SESSION = 10;
    private static final double SAME_GPUS = .89;
    private static final double SESSION_SD = .23;
    private static final double FINISHED = .604;
    private static final double KILLED = .09;
    /** Sessions by day of the week from Monday, relative to the mean. */
    private static final double[] WEEK = {.99, 1.19, 1.14, 1.14, 1.04, .8, .69};

    /** Workloads start on a Thursday, as 2026 does. */
    private static final int FIRST_WEEKDAY = 3;

    /** Share of sessions of at least so many jobs; in between by a power of the number. */
    private static final double[][] SIZES = {{2, .18}, {4, .05}, {67, .01}, {381, .001}, {1000, .0003}};

    /** Share of jobs by number of GPUs. */
    private static final double[][] GPUS = {{1, .85}, {2, .014}, {4, .068}, {8, .058}, {16, .007}, {32, .003}};

    private final Scene scene;
    private final ListedJobs jobs;
    private final RandomGenerator chance;

    SessionGenerator(Scene scene, RandomGenerator chance) {
        this.scene = scene;
        this.jobs = new ListedJobs(scene);
        this.chance = chance;
    }

    /** A part of a mixture of log-normal durations, in logarithms of seconds. */
    record Part(double share, double mean, double sd) {}

    /** How jobs of so many GPUs last. */
    static List<Part> durations(int gpus) {
        return switch (gpus) {
            case 1 -> List.of(new Part(.07, 5.01, .53), new Part(.45, 7.08, .43), new Part(.48, 8.08, 2.34));
            case 2 -> List.of(new Part(.14, 5.22, 1.33), new Part(.86, 11.46, 1.20));
            case 4 -> List.of(new Part(.33, 5.64, 1.33), new Part(.67, 10.79, 1.39));
            case 8 -> List.of(new Part(.31, 6.13, 1.52), new Part(.25, 9.55, .77), new Part(.44, 12.16, .84));
            default -> List.of(new Part(.52, 6.41, 2.39), new Part(.48, 11.65, .97));
        };
    }

    /**
     * Sessions until their jobs take so much together.
     *
     * @param days in which they arrive
     */
    List<TrainingTask> generate(int days, double gpuHours) {
        List<TrainingTask> tasks = new ArrayList<>();
        double left = gpuHours * 3600;
        for (int session = 1; left > 0; session++) {
            Instant at = scene.start().plusSeconds(arrival(days));
            int size = sessionSize();
            int typical = size > LARGEST_MIXED_SESSION ? 1 : gpus();
            double seconds = seconds(typical);
            for (int number = 1; number <= size && left > 0; number++) {
                int gpus = size > LARGEST_MIXED_SESSION || chance.nextDouble() < SAME_GPUS ? typical : gpus();
                double alike = gpus == typical ? seconds : seconds(gpus);
                double lasts =
                        Math.min(LONGEST_SECONDS, Math.max(1, alike * Math.exp(SESSION_SD * chance.nextGaussian())));
                tasks.add(jobs.task("s%04d-%03d".formatted(session, number), "sessions", at, gpus, lasts)
                        .meeting(new JobOutcome(end(), Optional.empty())));
                left -= gpus * lasts;
                at = at.plus(Duration.ofSeconds(chance.nextInt(GAP_SECONDS)));
            }
        }
        return tasks;
    }

    /** Seconds since the start. */
    private long arrival(int days) {
        while (true) {
            double day = days * chance.nextDouble();
            double weight = WEEK[((int) day + FIRST_WEEKDAY) % WEEK.length];
            if (chance.nextDouble() * 1.2 < weight) {
                return (long) (86_400 * day);
            }
        }
    }

    int sessionSize() {
        double draw = chance.nextDouble();
        if (draw >= SIZES[0][1]) {
            return 1;
        }
        for (int i = 1; i < SIZES.length; i++) {
            if (draw >= SIZES[i][1]) {
                double power = Math.log(SIZES[i][0] / SIZES[i - 1][0]) / Math.log(SIZES[i - 1][1] / SIZES[i][1]);
                return (int) (SIZES[i - 1][0] * Math.pow(SIZES[i - 1][1] / draw, power));
            }
        }
        return (int) SIZES[SIZES.length - 1][0];
    }

    private int gpus() {
        double draw = chance.nextDouble();
        int gpus = 1;
        for (double[] share : GPUS) {
            draw -= share[1];
            if (draw < 0) {
                gpus = (int) share[0];
                break;
            }
        }
        return Math.min(gpus, Math.max(1, scene.trainingGpus()));
    }

    private double seconds(int gpus) {
        double draw = chance.nextDouble();
        List<Part> parts = durations(gpus);
        Part part = parts.get(parts.size() - 1);
        for (Part one : parts) {
            draw -= one.share;
            if (draw < 0) {
                part = one;
                break;
            }
        }
        return Math.exp(part.mean + part.sd * chance.nextGaussian());
    }

    private JobPhase end() {
        double draw = chance.nextDouble();
        return draw < FINISHED ? JobPhase.FINISHED : draw < FINISHED + KILLED ? JobPhase.CANCELLED : JobPhase.FAILED;
    }
}
