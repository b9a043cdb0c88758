package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.Deployment.Running;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Two simulated nodes, one of each pool, whose GPUs are used by the processes of this machine that name them in {@code
 * CUDA_VISIBLE_DEVICES}. In a domain of their own, GPUs have names that no process of another test has; with two nodes,
 * names of devices by index count for none.
 */
record SharedMachine(Deployment deployment, Path directory, String domain) {
    /** Starts the agent of both nodes, with so many GPUs on each. */
    void startAgent(int gpus) {
        start(
                ServiceKind.AGENT,
                "--backend",
                "simulated",
                "--nodes",
                "2",
                "--gpus-per-node",
                Integer.toString(gpus),
                "--training-nodes",
                "1",
                "--set",
                "agent.domain=" + domain,
                "--set",
                "agent.simulated.processes=true",
                "--set",
                "agent.period=1s");
    }

    /** Starts a service, and waits until it is ready. */
    Running start(ServiceKind kind, String... more) {
        return start(Host.here(""), kind, more).ready();
    }

    /** Starts a service on a host. */
    Running start(Host host, ServiceKind kind, String... more) {
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--set", "health.port=0"));
        String log = "%s-%d.log".formatted(kind.command(), System.nanoTime());
        return deployment.start(kind, directory.resolve(log), arguments, host::inside);
    }

    /** A process that a user starts on GPUs past Lendstream. */
    static Process started(String role, List<GpuId> gpus) throws IOException {
        return started(role, gpus, Host.here(""));
    }

    /** The same on a host. */
    static Process started(String role, List<GpuId> gpus, Host host) throws IOException {
        return started(List.of("sleep", "600"), Map.of("ROLE", role), gpus, host);
    }

    /** Any such process, with these variables. */
    static Process started(List<String> command, Map<String, String> environment, List<GpuId> gpus, Host host)
            throws IOException {
        ProcessBuilder process = new ProcessBuilder(host.inside(command));
        process.environment()
                .put(
                        "CUDA_VISIBLE_DEVICES",
                        String.join(",", gpus.stream().map(GpuId::value).toList()));
        process.environment().putAll(environment);
        return process.start();
    }

    void awaitOwners(Pool pool, Duration patience, String... labels) {
        await().atMost(patience).untilAsserted(() -> assertThat(owners(pool)).containsExactlyInAnyOrder(labels));
    }

    /** The states of the owners of a pool's GPUs. */
    List<String> owners(Pool pool) {
        return leases(pool).values().stream()
                .map(Lease::owner)
                .map(Owner::label)
                .toList();
    }

    /** The last lease of each GPU of a pool. */
    SortedMap<GpuId, Lease> leases(Pool pool) {
        SortedMap<GpuId, Lease> latest = new TreeMap<>();
        for (Lease lease : deployment.read(TopicCatalogue.LEASES)) {
            if (lease.pool() == pool) {
                latest.put(lease.gpuId(), lease);
            }
        }
        return latest;
    }
}
