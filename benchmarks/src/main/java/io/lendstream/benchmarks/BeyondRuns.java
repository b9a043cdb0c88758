package io.lendstream.benchmarks;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.replay.StepError;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Replays of Pollux's jobs with DeepBoot's requests, on 16 nodes of 4 GPUs; as many at a time as there are processors.
 * Each seed disturbs the step times that jobs report by 2 %, and with them the fits of speed.
 */
final class BeyondRuns implements AutoCloseable {
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final int NODES = 16;
    private static final int GPUS_PER_NODE = 4;
    private static final int TRAINING_NODES = 8;
    private static final double STEP_ERROR = 0.02;
    private static final double HEAVIER = 1.5;

    private final Path data = PublicData.with(
            "beyond",
            "deepboot/workload/small.csv",
            "deepboot/workload/middle.csv",
            "deepboot/traces",
            "pollux/workloads");
    private final ExecutorService pool =
            Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
    private final Path directory;

    /**
     * A run.
     *
     * @param stream of requests: {@code small}, {@code middle} or {@code heavier}
     * @param workload the number of Pollux's workload
     * @param seed of the disturbance
     */
    record Run(String policy, boolean lending, boolean afe, String stream, int workload, long seed) {
        static Run of(String policy, String stream, int workload) {
            return new Run(policy, true, true, stream, workload, 1);
        }

        Run withoutLending() {
            return new Run(policy, false, afe, stream, workload, seed);
        }

        Run withoutAfe() {
            return new Run(policy, lending, false, stream, workload, seed);
        }

        Run seeded(long other) {
            return new Run(policy, lending, afe, stream, workload, other);
        }
    }

    BeyondRuns() throws IOException {
        directory = Files.createTempDirectory("lendstream-beyond-");
        write("small", "small", 1, 1);
        write("middle", "middle", 1, 1);
        write("middle", "heavier", 2, HEAVIER);
    }

    /** Begins a run. */
    CompletableFuture<Replayed> begin(Run run) {
        return CompletableFuture.supplyAsync(() -> replay(run), pool);
    }

    /** Begins a run with each of some disturbances; gives the medians of their figures. */
    CompletableFuture<BeyondFigures> medians(Run run, int seeds) {
        List<CompletableFuture<BeyondFigures>> all = new ArrayList<>();
        for (long seed = 1; seed <= seeds; seed++) {
            all.add(begin(run.seeded(seed)).thenApply(BeyondFigures::of));
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(any -> BeyondFigures.medians(
                        all.stream().map(CompletableFuture::join).toList()));
    }

    private Replayed replay(Run run) {
        SimulatedNodes.Layout layout =
                new SimulatedNodes.Layout(DOMAIN, NODES, GPUS_PER_NODE, TRAINING_NODES, run.seed);
        Scene scene = new Scene(
                DOMAIN,
                Workload.EPOCH,
                1,
                TRAINING_NODES * GPUS_PER_NODE,
                (NODES - TRAINING_NODES) * GPUS_PER_NODE,
                Optional.of(data.resolve("deepboot/traces")),
                Optional.empty(),
                false,
                List.of());
        Path jobs = data.resolve("pollux/workloads/workload-%d.csv".formatted(run.workload));
        Workload played = Workloads.load(jobs + "," + directory.resolve(run.stream + ".csv"), scene);
        return Replay.run(
                played,
                ReplaySettings.of(run.policy, run.lending, run.afe, layout)
                        .withStepError(new StepError(STEP_ERROR, run.seed))
                        .withoutLog());
    }

    /**
     * Writes a stream of the requests of one of DeepBoot's workloads, without its jobs.
     *
     * @param times how many requests each becomes, which are spread up to the next one
     * @param longer factor on their duration
     */
    private void write(String source, String stream, int times, double longer) throws IOException {
        List<String> lines = Files.readAllLines(data.resolve("deepboot/workload/" + source + ".csv"));
        List<String[]> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] row = line.split(",", -1);
            if (row[2].startsWith("infer-")) {
                rows.add(row);
            }
        }
        List<String> written = new ArrayList<>(List.of(lines.get(0)));
        for (int i = 0; i < rows.size(); i++) {
            String[] row = rows.get(i);
            int at = Integer.parseInt(row[1]);
            int next = i + 1 < rows.size() ? Integer.parseInt(rows.get(i + 1)[1]) : at;
            for (int copy = 0; copy < times; copy++) {
                String[] other = row.clone();
                other[0] = row[0] + (copy == 0 ? "" : "-" + copy);
                other[1] = String.valueOf(at + (next - at) * copy / times);
                other[5] = String.valueOf(Double.parseDouble(row[5]) * longer);
                written.add(String.join(",", other));
            }
        }
        Files.write(directory.resolve(stream + ".csv"), written);
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
