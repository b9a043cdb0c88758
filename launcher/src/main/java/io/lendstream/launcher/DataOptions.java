package io.lendstream.launcher;

import io.lendstream.stack.StackSettings;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options for the files of a stack. */
final class DataOptions {
    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            description = {
                "Directory for the files of the run; new or empty. They are kept after a failure.",
                "Default: a temporary directory."
            })
    private Optional<Path> dataDirectory = Optional.empty();

    @Option(names = "--keep-data", description = "Keep the topics and logs of the run.")
    private boolean keepData;

    boolean keepsData() {
        return keepData;
    }

    StackSettings stack(int brokerPort, int registryPort) {
        StackSettings settings = StackSettings.defaults()
                .keepingData(keepData)
                .withBrokerPort(brokerPort)
                .withRegistryPort(registryPort);
        return dataDirectory.map(settings::withDataDirectory).orElse(settings);
    }
}
