package io.lendstream.simulator.workload;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.goodput.BatchRange;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The six applications of the Pollux and DeepBoot evaluations: batch sizes, epochs, and what it costs to change their
 * GPUs.
 *
 * @param epochs how many it trains
 * @param onlyOneGpu whether it trains on one GPU with its largest batch, whatever the scheduler would like
 * @param costs of a change with and without AFE
 * @param coldStart of an inference replica with its model
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023</a>
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, table 1</a>
 */
public record PolluxApplication(
        String name, BatchRange batch, int epochs, boolean onlyOneGpu, RescaleCosts costs, Duration coldStart) {
    private static final int LARGEST_JOB = 64;

    public static final List<PolluxApplication> ALL = List.of(
            new PolluxApplication("bert", batch(12, 384, 4, 12), 2, false, costs(103, 5), Duration.ofSeconds(8)),
            new PolluxApplication(
                    "cifar10", batch(128, 4096, 32, 1024), 100, false, costs(24, 3), Duration.ofSeconds(6)),
            new PolluxApplication(
                    "deepspeech2", batch(20, 640, 10, 80), 80, false, costs(18, 1), Duration.ofSeconds(4)),
            new PolluxApplication(
                    "imagenet", batch(200, 12800, 20, 200), 90, false, costs(35, 3), Duration.ofSeconds(6)),
            new PolluxApplication(
                    "ncf",
                    new BatchRange(256, 32768, 32, 32768, Optional.of(32768)),
                    10,
                    true,
                    costs(25, 2),
                    Duration.ofSeconds(4)),
            new PolluxApplication("yolov3", batch(8, 512, 4, 8), 50, false, costs(26, 3), Duration.ofSeconds(6)));

    private static BatchRange batch(int initial, int max, int localMin, int localMax) {
        return new BatchRange(initial, max, localMin, localMax, Optional.empty());
    }

    private static RescaleCosts costs(int firstSeconds, int nextSeconds) {
        return new RescaleCosts(Duration.ofSeconds(firstSeconds), Duration.ofSeconds(nextSeconds));
    }

    public static Optional<PolluxApplication> named(String name) {
        return ALL.stream().filter(known -> known.name.equals(name)).findFirst();
    }

    public static String names() {
        return String.join(", ", ALL.stream().map(PolluxApplication::name).toList());
    }

    /** The application that serves {@code infer-bert-4}, if there is one. */
    public static Optional<PolluxApplication> serving(String service) {
        String[] parts = service.split("-", -1);
        return parts.length == 3 && parts[0].equals("infer") ? named(parts[1]) : Optional.empty();
    }

    public int maxGpus() {
        return onlyOneGpu ? 1 : Math.min(LARGEST_JOB, batch.max() / batch.localMin());
    }
}
