package io.lendstream.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Determines whether the agent must release the GPUs. It does so while a marker file exists, and while the node's
 * Kubernetes labels have {@code nvidia.com/mig.config.state} pending, which means that MIG is being changed.
 *
 * @param marker the marker file; empty if none is used
 * @param labels the file with the labels, one {@code key="value"} a line
 * @param migChange the state of that label by the API server; empty without a change, or if the API server is not
 *     asked
 */
record Maintenance(Optional<Path> marker, Optional<Path> labels, Supplier<Optional<String>> migChange) {
    private static final Pattern PENDING =
            Pattern.compile("(?m)^\\s*nvidia\\.com/mig\\.config\\.state\\s*=\\s*\"?(pending|rebooting)\"?\\s*$");

    /** Why the GPUs must be released now; empty if they need not be. */
    Optional<String> why() {
        if (marker.filter(Files::exists).isPresent()) {
            return Optional.of("maintenance: %s exists (agent.maintenance-file)".formatted(marker.get()));
        }
        return labels.filter(Files::isReadable)
                .filter(file -> PENDING.matcher(read(file)).find())
                .map(file -> "MIG is being changed: nvidia.com/mig.config.state is pending in %s".formatted(file))
                .or(migChange);
    }

    /** A file that is deleted while it is read counts as missing. */
    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }
}
