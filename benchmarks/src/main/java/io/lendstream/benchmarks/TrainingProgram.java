package io.lendstream.benchmarks;

import io.lendstream.actuator.jobs.JobProgram;
import io.lendstream.actuator.jobs.JobProgram.Mode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The training program of the repository, with a model of 101 MB of parameters, as a job. */
final class TrainingProgram {
    private static final List<Path> PACKAGES =
            List.of(Path.of("actuator", "python"), Path.of("..", "actuator", "python"));

    private TrainingProgram() {}

    /** The program in this mode, which notes its steps in {@code log}. */
    static JobProgram of(Mode mode, Path log, int restarts, boolean onGpus) {
        Path python = PACKAGES.stream()
                .filter(Files::isDirectory)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "actuator/python is not here; run the benchmark with ./dev bench afe"));
        List<String> command = new ArrayList<>();
        if (mode != Mode.TORCHRUN) {
            command.add(interpreter());
        }
        command.add(python.toAbsolutePath().resolve("examples/train.py").toString());
        command.addAll(List.of(
                "--log",
                log.toString(),
                "--checkpoint",
                log.resolve("checkpoint").toString()));
        command.addAll(List.of("--features", "64", "--hidden", "2500", "--layers", "5", "--local-batch", "1"));
        command.addAll(List.of("--device", onGpus ? "cuda" : "cpu"));
        command.addAll(List.of("--epochs", "1000000", "--checkpoint-seconds", "1000000"));
        return new JobProgram(
                mode,
                command,
                List.of(interpreter(), "-m", "torch.distributed.run"),
                Map.of("PYTHONPATH", python.toAbsolutePath().toString(), "OMP_NUM_THREADS", "1"),
                log.toString(),
                restarts,
                Duration.ofSeconds(60));
    }

    static String interpreter() {
        return Stream.of(Optional.ofNullable(System.getenv("LENDSTREAM_PYTHON_TORCH")), Optional.of("/usr/bin/python3"))
                .flatMap(Optional::stream)
                .findFirst()
                .orElseThrow();
    }
}
