package io.lendstream.launcher;

import io.lendstream.stack.StackSettings;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Where a stack keeps its files, and for how long. */
final class DataOptions {
    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            description = {
                "Where the run keeps its files; new or empty. They stay after a failure.",
                "Default: a temporary one."
            })
    private Optional<Path> dataDirectory = Optional.empty();

    @Option(names = "--keep-data", description = "Leave the run's topics and logs where they are.")
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
