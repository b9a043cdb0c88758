package io.lendstream.launcher.declare;

import io.lendstream.launcher.cli.UserError;
import java.io.Serial;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The errors of values that do not depend on each other, so that all are shown and not only the first. */
final class ProblemList {
    private final List<String> problems = new ArrayList<>();

    /** Several errors of one value, each a line. */
    static final class SeveralProblems extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1L;

        private final ArrayList<String> problems;

        private SeveralProblems(List<String> problems) {
            super(String.join("; ", problems));
            this.problems = new ArrayList<>(problems);
        }
    }

    /** Reads a value; empty if it has errors, which are then noted. */
    <V> Optional<V> attempt(Supplier<V> read) {
        try {
            return Optional.of(read.get());
        } catch (UserError e) {
            problems.add(String.valueOf(e.getMessage()));
        } catch (SeveralProblems e) {
            problems.addAll(e.problems);
        }
        return Optional.empty();
    }

    /** Makes a check, whose errors are noted. */
    void check(Runnable check) {
        attempt(() -> {
            check.run();
            return true;
        });
    }

    void add(String problem) {
        problems.add(problem);
    }

    /** Fails with all errors, if there are any. */
    void stop() {
        if (problems.size() == 1) {
            throw UserError.badUsage(problems.get(0));
        }
        if (!problems.isEmpty()) {
            throw new SeveralProblems(problems);
        }
    }

    /** The errors so far, each a line. */
    List<String> all() {
        return List.copyOf(problems);
    }
}
