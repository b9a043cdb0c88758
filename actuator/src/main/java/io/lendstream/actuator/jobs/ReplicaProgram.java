package io.lendstream.actuator.jobs;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * How a service's replica is started.
 *
 * @param command the program and its arguments, not interpreted by a shell; {@code {index}} in them is the number of
 *     its GPU or MIG instance
 * @param environment variables in addition to the inherited ones ({@link CleanEnvironment})
 * @param directory its working directory
 * @param ready an address that answers 200 when the replica serves, with {@code {index}} as above; without it the
 *     replica is ready when it runs
 */
public record ReplicaProgram(
        List<String> command, Map<String, String> environment, String directory, Optional<String> ready) {
    public ReplicaProgram {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
        if (command.isEmpty()) {
            throw new IllegalArgumentException("a replica needs a command");
        }
        ready.ifPresent(ReplicaProgram::checkAddress);
    }

    /** This program with further variables. */
    public ReplicaProgram with(Map<String, String> more) {
        Map<String, String> all = new TreeMap<>(environment);
        all.putAll(more);
        return new ReplicaProgram(command, all, directory, ready);
    }

    private static void checkAddress(String address) {
        URI uri = URI.create(address.replace("{index}", "0"));
        if (uri.getHost() == null || !Set.of("http", "https").contains(String.valueOf(uri.getScheme()))) {
            throw new IllegalArgumentException(
                    "ready is '%s', but must be an http or https address, such as http://127.0.0.1:80{index}/ready"
                            .formatted(address));
        }
    }
}
