package io.lendstream.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * When the agent must let the GPUs go, as two files and the API server say: one file that is there for as long as somebody works on the
 * node, and one with Kubernetes' labels of the node, among which {@code nvidia.com/mig.config.state} is pending while MIG is changed.
 *
 * @param marker the first; empty where nobody leaves one
 * @param labels the second, a line {@code key="value"} each
 * @param migChange what the API server says of that label; empty where nothing is being changed, or nobody is asked
 */
record Maintenance(Optional<Path> marker, Optional<Path> labels, Supplier<Optional<String>> migChange) {
    private static final Pattern PENDING =
            Pattern.compile("(?m)^\\s*nvidia\\.com/mig\\.config\\.state\\s*=\\s*\"?(pending|rebooting)\"?\\s*$");

    /** Why the GPUs must be let go now; empty where they need not. */
    Optional<String> why() {
        if (marker.filter(Files::exists).isPresent()) {
            return Optional.of("maintenance: %s is there (agent.maintenance-file)".formatted(marker.get()));
        }
        return labels.filter(Files::isReadable)
                .filter(file -> PENDING.matcher(read(file)).find())
                .map(file ->
                        "MIG is being changed: %s says that nvidia.com/mig.config.state is pending".formatted(file))
                .or(migChange);
    }

    /** A file that goes while it is read says nothing. */
    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }
}
