package io.lendstream.launcher.services;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A Python that has PyTorch. */
final class TorchPython {
    private TorchPython() {}

    /** The command; without one there is nothing to train with, and the test is skipped. */
    static String find() {
        for (String candidate : List.of(
                Optional.ofNullable(System.getenv("LENDSTREAM_PYTHON_TORCH")).orElse("/usr/bin/python3"), "python3")) {
            try {
                Process process = new ProcessBuilder(candidate, "-c", "import torch.distributed")
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
                if (process.waitFor() == 0) {
                    return candidate;
                }
            } catch (IOException e) {
                // Not there: the next one.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        assumeTrue(false, "skipped: no Python with PyTorch in LENDSTREAM_PYTHON_TORCH, /usr/bin/python3 or python3");
        return "";
    }
}
