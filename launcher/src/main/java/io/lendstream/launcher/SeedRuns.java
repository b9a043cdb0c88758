package io.lendstream.launcher;

import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.report.SeedFailure;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongFunction;

/**
 * The results of a task that was done with several seeds. A seed that fails does not end the others.
 *
 * @param done results by seed, in the order of the seeds; at least one
 * @param failures the other seeds, in the same order
 */
record SeedRuns<T>(Map<Long, T> done, List<SeedFailure> failures) {
    SeedRuns {
        done = Collections.unmodifiableMap(new LinkedHashMap<>(done));
        failures = List.copyOf(failures);
    }

    /** Does a task with each seed, some at a time. If all seeds fail, so does this. */
    static <T> SeedRuns<T> play(List<Long> seeds, int threads, LongFunction<T> task) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<T>> futures = new ArrayList<>();
            for (long seed : seeds) {
                futures.add(pool.submit(() -> task.apply(seed)));
            }
            Map<Long, T> done = new LinkedHashMap<>();
            Map<Long, RuntimeException> failed = new LinkedHashMap<>();
            for (int i = 0; i < futures.size(); i++) {
                try {
                    done.put(seeds.get(i), futures.get(i).get());
                } catch (ExecutionException e) {
                    failed.put(seeds.get(i), failure(e));
                }
            }
            List<SeedFailure> failures = new ArrayList<>();
            failed.forEach((seed, failure) -> failures.add(new SeedFailure(seed, cause(failure))));
            if (done.isEmpty()) {
                throw all(failures, new ArrayList<>(failed.values()));
            }
            return new SeedRuns<>(done, failures);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw UserError.failed("interrupted while replaying");
        } finally {
            pool.shutdownNow();
        }
    }

    private static RuntimeException failure(ExecutionException failed) {
        if (failed.getCause() instanceof Error error) {
            throw error;
        }
        return failed.getCause() instanceof RuntimeException failure
                ? failure
                : new IllegalStateException(failed.getCause());
    }

    private static String cause(RuntimeException failure) {
        String message = failure.getMessage();
        return message == null || message.isBlank()
                ? failure.getClass().getSimpleName()
                : message.strip().replaceFirst("\\.$", "");
    }

    /** The failure of all seeds: the one that they share, such as a workload that does not exist, or each of them. */
    private static RuntimeException all(List<SeedFailure> failures, List<RuntimeException> failed) {
        boolean isShared = failures.stream().map(SeedFailure::cause).distinct().count() == 1;
        return isShared
                ? failed.get(0)
                : UserError.failed(String.join(
                        "; ", failures.stream().map(SeedFailure::line).toList()));
    }
}
