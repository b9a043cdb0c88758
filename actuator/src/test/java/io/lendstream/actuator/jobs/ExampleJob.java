package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The training script that comes with the package, made so slow that something can happen to it. */
final class ExampleJob {
    static final JobId ID = new JobId("example");
    static final Batching BATCHING = new Batching(8, 1, 1);
    static final int SAMPLES = 1003; // no multiple of any batch: each epoch ends with a short step
    static final int FEATURES = 16;

    private final Path log;
    private int epochs = 1_000_000;
    private JobProgram.Mode mode = JobProgram.Mode.AFE;
    private int seed = 1;
    private double stepSeconds = 0.02;
    private String script = "examples/train.py";
    private String device = "cpu";
    private Map<String, String> more = Map.of();
    private List<String> size = List.of();

    ExampleJob(Path log) {
        this.log = log;
    }

    ExampleJob epochs(int number) {
        epochs = number;
        return this;
    }

    ExampleJob mode(JobProgram.Mode other) {
        mode = other;
        return this;
    }

    ExampleJob seed(int other) {
        seed = other;
        return this;
    }

    ExampleJob stepSeconds(double other) {
        stepSeconds = other;
        return this;
    }

    /** Groups take a second to build, many steps long. */
    ExampleJob slowBuilds() {
        script = "tests/slow_build.py";
        return this;
    }

    /** Each worker computes on the GPU that it sees, and communicates by this backend. */
    ExampleJob onGpu(String backend) {
        device = "cuda";
        more = Map.of("LENDSTREAM_AFE_BACKEND", backend);
        if (backend.equals("nccl")) {
            script = "tests/own_machine.py";
        }
        return this;
    }

    /** Tensors of several megabytes, which are sent each by itself. */
    ExampleJob large() {
        size = List.of("--hidden", "1000", "--layers", "4");
        return this;
    }

    JobProgram program() {
        String python = PythonTorch.orSkip();
        List<String> command = new ArrayList<>();
        if (mode != JobProgram.Mode.TORCHRUN) {
            command.add(python);
        }
        command.add(PythonTorch.PACKAGE.resolve(script).toString());
        command.addAll(List.of(
                "--log",
                log.toString(),
                "--checkpoint",
                log.resolve("checkpoint").toString()));
        command.addAll(List.of("--samples", "" + SAMPLES, "--features", "" + FEATURES, "--seed", "" + seed));
        command.addAll(List.of("--epochs", "" + epochs, "--step-seconds", "" + stepSeconds));
        command.addAll(size);
        command.addAll(List.of("--checkpoint-seconds", "0.5", "--device", device));
        List<String> launcher = List.of(python, "-m", "torch.distributed.run");
        Map<String, String> environment = Map.of("PYTHONPATH", PythonTorch.PACKAGE.toString());
        return new JobProgram(mode, command, launcher, environment, log.toString(), 3, Duration.ofSeconds(20))
                .with(more);
    }

    /** Slots by number, such as {@code 0,2}. */
    static List<Slot> slots(String numbers) {
        return Stream.of(numbers.split(",", -1))
                .map(number -> new Slot(new GpuId("gpu" + number), number))
                .toList();
    }

    static DecisionId change(int sequence) {
        return new DecisionId(new DomainId("test"), 1, sequence);
    }
}
