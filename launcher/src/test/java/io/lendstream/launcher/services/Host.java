package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A machine of its own, as far as Linux can play one: its processes see only each other, count from 1, and have a network
 * in which nothing listens but what they start, and a {@link Relay} to Kafka and the registry. Where
 * Linux does not allow that, hosts are this machine, and only their names differ.
 */
final class Host implements AutoCloseable {
    private final String name;
    private final Optional<Process> keeper;
    private Optional<Relay> relay = Optional.empty();

    private Host(String name, Optional<Process> keeper) {
        this.name = name;
        this.keeper = keeper;
    }

    /** One that is this machine. */
    static Host here(String name) {
        return new Host(name, Optional.empty());
    }

    /** Why there can be no hosts on this machine; empty if there can. */
    static Optional<String> obstacle() {
        try {
            Process tried = new ProcessBuilder("unshare", "--pid", "--net", "--fork", "--mount-proc", "true")
                    .redirectErrorStream(true)
                    .start();
            String said = new String(tried.getInputStream().readAllBytes(), UTF_8);
            return tried.waitFor() == 0
                    ? Optional.empty()
                    : Optional.of("no namespaces of processes and network: " + said.strip());
        } catch (IOException e) {
            return Optional.of("no namespaces of processes and network: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** A host with a deployment's broker and registry within reach. */
    static Host started(String name, Deployment deployment, Path directory) throws IOException {
        Process keeper = new ProcessBuilder(
                        "unshare",
                        "--pid",
                        "--net",
                        "--fork",
                        "--mount-proc",
                        "--kill-child",
                        "sh",
                        "-c",
                        "ip link set lo up; exec sleep 3600")
                .start();
        await().atMost(Deployment.PATIENCE)
                .until(() -> keeper.children().findAny().isPresent() || !keeper.isAlive());
        Host host = new Host(name, Optional.of(keeper));
        try {
            host.relay = Optional.of(new Relay(host, deployment.ports(), directory));
        } catch (IOException | RuntimeException e) {
            host.close();
            throw e;
        }
        return host;
    }

    String name() {
        return name;
    }

    boolean isThisMachine() {
        return keeper.isEmpty();
    }

    /** The first process of the namespaces. */
    private static ProcessHandle first(Process keeper) {
        return keeper.children().findAny().orElseThrow();
    }

    /** A command that runs on this host. */
    List<String> inside(List<String> command) {
        return keeper.map(Host::first)
                .map(first -> Stream.concat(
                                Stream.of(
                                        "nsenter",
                                        "--target",
                                        Long.toString(first.pid()),
                                        "--pid",
                                        "--net",
                                        "--mount",
                                        "--"),
                                command.stream())
                        .toList())
                .orElse(command);
    }

    /**
     * Kills a service that was started {@link #inside} this host, and nothing that the service has started.
     *
     * @param entered the service, or the process that entered the host for it
     */
    void kill(Process entered) throws InterruptedException {
        if (keeper.isPresent()) {
            entered.children().forEach(ProcessHandle::destroyForcibly);
        } else {
            entered.destroyForcibly();
        }
        if (!entered.waitFor(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("process %d does not end".formatted(entered.pid()));
        }
    }

    /** The processes of this host, by their numbers on this machine. */
    List<ProcessHandle> processes() {
        long one = keeper.map(kept -> first(kept).pid())
                .orElse(ProcessHandle.current().pid());
        Path space = namespace(one).orElseThrow();
        return ProcessHandle.allProcesses()
                .filter(process ->
                        namespace(process.pid()).filter(space::equals).isPresent())
                .toList();
    }

    /** The namespace of process numbers in which a process is; empty if it has ended. */
    private static Optional<Path> namespace(long pid) {
        try {
            return Optional.of(Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "ns", "pid")));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** With it all its processes end. */
    @Override
    public void close() {
        relay.ifPresent(Relay::close);
        keeper.ifPresent(kept -> {
            first(kept).destroyForcibly();
            kept.destroyForcibly();
        });
    }
}
