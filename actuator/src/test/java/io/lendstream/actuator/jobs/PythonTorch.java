package io.lendstream.actuator.jobs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A Python that has PyTorch. */
final class PythonTorch {
    static final Path PACKAGE = Path.of("python").toAbsolutePath();

    private static final Optional<String> FOUND = Stream.of(
                    Optional.ofNullable(System.getenv("LENDSTREAM_PYTHON_TORCH")),
                    Optional.of("/usr/bin/python3"),
                    Optional.of("python3"))
            .flatMap(Optional::stream)
            .filter(PythonTorch::importsTorch)
            .findFirst();

    private PythonTorch() {}

    static String orSkip() {
        assumeTrue(
                FOUND.isPresent(),
                "skipped: no Python with PyTorch in LENDSTREAM_PYTHON_TORCH, /usr/bin/python3 or python3");
        return FOUND.orElseThrow();
    }

    /** The UUID of a GPU that PyTorch can use; skips a test on a machine without one. */
    static String gpuOrSkip() throws IOException, InterruptedException {
        String script = "import torch; print(torch.cuda.is_available() and torch.cuda.get_device_properties(0).uuid)";
        orSkip();
        String found = hasGpuFiles() ? run(List.of("-c", script)).strip() : "False";
        assumeTrue(!found.equals("False"), "skipped: PyTorch finds no GPU");
        return "GPU-" + found;
    }

    private static boolean hasGpuFiles() {
        return Files.exists(Path.of("/dev/nvidiactl"));
    }

    static String run(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(orSkip()));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .directory(PACKAGE.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(String.join(" ", command) + " failed: " + output);
        }
        return output;
    }

    private static boolean importsTorch(String python) {
        try {
            return new ProcessBuilder(python, "-c", "import torch.distributed")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
