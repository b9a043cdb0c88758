package io.lendstream.mutation;

import java.util.List;
import java.util.Set;

/**
 * What share of the mutants was noticed.
 *
 * @param killed mutants that made a test fail, run out of time or of memory
 * @param timedOut those of them that ran out of time; many of them on a busy machine say little
 * @param total all mutants that could be run
 */
record MutationScore(int killed, int timedOut, int total) {
    /** The 97.5 % quantile of the normal distribution. */
    private static final double Z = 1.959964;

    static final MutationScore NONE = new MutationScore(0, 0, 0);

    private static final String TIMED_OUT = "TIMED_OUT";
    private static final Set<String> KILLED = Set.of("KILLED", TIMED_OUT, "MEMORY_ERROR", "RUN_ERROR");
    private static final Set<String> NOT_RUN = Set.of("NON_VIABLE", "NOT_STARTED", "STARTED");

    /** Reads PIT's table: file, class, mutator, method, line, status, test. */
    static MutationScore of(List<String> lines) {
        List<String> states = lines.stream()
                .map(line -> line.split(",", -1)[5])
                .filter(state -> !NOT_RUN.contains(state))
                .toList();
        return new MutationScore(
                (int) states.stream().filter(KILLED::contains).count(),
                (int) states.stream().filter(TIMED_OUT::equals).count(),
                states.size());
    }

    /** Between 0 and 1; 0 without mutants. */
    double share() {
        return total == 0 ? 0 : (double) killed / total;
    }

    /** The lower end of Wilson's 95 % interval of the share. */
    double low() {
        return total == 0 ? 0 : middle() - spread();
    }

    /** The upper end of the same. */
    double high() {
        return total == 0 ? 1 : middle() + spread();
    }

    private double middle() {
        return (share() + Z * Z / (2 * total)) / (1 + Z * Z / total);
    }

    private double spread() {
        double variance = share() * (1 - share()) / total + Z * Z / (4.0 * total * total);
        return Z * Math.sqrt(variance) / (1 + Z * Z / total);
    }
}
