package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.launcher.services.Deployment.Running;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Three hosts with an agent and an actuator on each, and a scheduler. A job, two replicas, and two processes that are not
 * declared run on them, which something else has started.
 */
final class AdoptedCluster implements AutoCloseable {
    static final DomainId DOMAIN = new DomainId("lab");

    private final Path directory;
    private final Deployment deployment;
    private final SharedMachine lab;
    private final List<Host> hosts = new ArrayList<>();
    private final List<Stranger> strangers = new ArrayList<>();
    private final Map<Host, Running> agents = new HashMap<>();
    private final Map<Host, Running> actuators = new HashMap<>();
    private Running scheduler;

    /** Starts hosts and services. Where Linux allows no hosts, they are this machine, which is printed. */
    AdoptedCluster(Deployment deployment, Path directory) throws IOException {
        this.deployment = deployment;
        this.directory = directory;
        this.lab = new SharedMachine(deployment, directory, DOMAIN.value());
        writePrograms();
        Optional<String> obstacle = Host.obstacle();
        obstacle.ifPresent(why -> System.out.println("the three hosts are one: " + why));
        try {
            for (String name : List.of("host-a", "host-b", "host-c")) {
                hosts.add(obstacle.isEmpty() ? Host.started(name, deployment, directory) : Host.here(name));
            }
            scheduler = startScheduler();
            hosts.forEach(host -> agents.put(host, startAgent(host)));
            hosts.forEach(host -> actuators.put(host, startActuator(host)));
        } catch (IOException | RuntimeException | AssertionError e) {
            hosts.forEach(Host::close);
            throw e;
        }
    }

    SharedMachine lab() {
        return lab;
    }

    Deployment deployment() {
        return deployment;
    }

    /** A job on two GPUs of the first host, a replica on each of the others, and two processes that are not declared. */
    void startStrangers() throws IOException {
        strangers.add(Stranger.started(hosts.get(0), "it-old-job", gpus(0).subList(0, 2), "training job bert"));
        strangers.add(Stranger.started(hosts.get(1), "it-replica", gpus(1).subList(0, 1), "serving chat"));
        strangers.add(Stranger.started(hosts.get(2), "it-replica", gpus(2).subList(0, 1), "serving chat"));
        strangers.add(Stranger.unknown(hosts.get(0), gpus(0).subList(2, 3)));
        strangers.add(Stranger.unknown(hosts.get(2), gpus(2).subList(1, 2)));
    }

    /** The GPUs of a host. */
    private List<GpuId> gpus(int host) {
        String name = hosts.get(host).name();
        return Stream.of(Pool.TRAINING, Pool.INFERENCE)
                .flatMap(pool -> lab.leases(pool).values().stream())
                .filter(lease -> lease.nodeId().value().equals(name))
                .map(Lease::gpuId)
                .toList();
    }

    /** The job first, then the replicas, then the others. */
    List<Stranger> strangers() {
        return List.copyOf(strangers);
    }

    Printed command(String... arguments) {
        return deployment.command(arguments);
    }

    /** Runs a command, which must succeed. */
    Printed succeeds(String... arguments) {
        Printed printed = command(arguments);
        assertThat(printed.exit()).as(printed.out() + printed.err()).isZero();
        return printed;
    }

    /** Applies a file. */
    void apply(String name, String declarations) throws IOException {
        Path file = Files.writeString(directory.resolve(name), declarations);
        succeeds("apply", "-f", file.toString());
    }

    /** Kills all services at once, and starts them again. */
    void restartAll() throws InterruptedException {
        for (Host host : hosts) {
            host.kill(agents.get(host).process());
            host.kill(actuators.get(host).process());
        }
        Host.here("").kill(scheduler.process());
        scheduler = startScheduler();
        hosts.forEach(host -> agents.put(host, startAgent(host)));
        hosts.forEach(host -> actuators.put(host, startActuator(host)));
    }

    /**
     * Kills the scheduler, or the agent or actuator of a host, and starts it again as a supervisor would.
     *
     * @param number of the host, from 0
     * @return the seconds from the kill until the new one was at work: the scheduler has taken over the domain, the agent
     *     has published its inventory, or the actuator its description
     */
    double restart(ServiceKind service, int number) throws InterruptedException {
        Host host = hosts.get(number);
        long since = System.nanoTime();
        Instant killedAt = Instant.now();
        switch (service) {
            case SCHEDULER -> {
                Host.here("").kill(scheduler.process());
                scheduler = startScheduler();
                await().atMost(Deployment.PATIENCE)
                        .until(() -> scheduler.printed().contains("took over domain " + DOMAIN));
            }
            case AGENT -> {
                host.kill(agents.get(host).process());
                agents.put(host, startAgent(host));
                await().atMost(Deployment.PATIENCE)
                        .until(() -> deployment.read(TopicCatalogue.NODES).stream()
                                .anyMatch(node -> node.nodeId().value().equals(host.name())
                                        && node.at().isAfter(killedAt)));
            }
            case ACTUATOR -> {
                host.kill(actuators.get(host).process());
                actuators.put(host, startActuator(host));
                await().atMost(Deployment.PATIENCE)
                        .until(() -> deployment.read(TopicCatalogue.ACTUATORS).stream()
                                .anyMatch(actuator -> actuator.actuator().equals(host.name())
                                        && actuator.at().isAfter(killedAt)));
            }
            case FORECASTER, LOAD -> throw new IllegalArgumentException("there is no %s here".formatted(service));
        }
        return (System.nanoTime() - since) / 1e9;
    }

    /** How many of the five processes have ended. */
    long ended() {
        return strangers.stream().filter(stranger -> !stranger.isAlive()).count();
    }

    /**
     * Checks what holds at a step and after it: all five processes run, no other process has their GPUs, and binding
     * decisions only took them over.
     */
    void checkUntouched(AdoptionStep step) {
        checkProcesses();
        checkDecisions(step);
    }

    private void checkProcesses() {
        assertThat(strangers).hasSize(5).allMatch(Stranger::isAlive);
        Set<Long> users = hosts.stream()
                .flatMap(host -> host.processes().stream())
                .filter(process -> Stranger.uses(process, theirs()))
                .map(ProcessHandle::pid)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(users)
                .as("the processes that have the GPUs of those which ran before")
                .containsExactlyElementsOf(strangers.stream()
                        .map(stranger -> stranger.handle().pid())
                        .sorted()
                        .toList());
    }

    /** Checks that {@code top} shows who uses the GPUs, or who owns them after all was taken over. */
    void checkTop(boolean isTakenOver) throws IOException {
        JsonNode top =
                new ObjectMapper().readTree(succeeds("top", "--once", "--json").out());
        Map<String, String> owners = new TreeMap<>();
        top.path("gpus")
                .forEach(gpu ->
                        owners.put(gpu.path("gpu").asText(), gpu.path("words").asText()));
        for (Stranger stranger : strangers) {
            assertThat(stranger.gpus())
                    .allSatisfy(gpu -> assertThat(owners.get(gpu.value()))
                            .as("owner of %s in top", gpu)
                            .startsWith(stranger.owner(isTakenOver)));
        }
    }

    private void checkDecisions(AdoptionStep step) {
        assertThat(deployment.read(TopicCatalogue.DECISIONS))
                .filteredOn(decision -> !decision.advisory()
                        && (step.isBeforeTrust()
                                || decision.action().gpus().stream().anyMatch(theirs()::contains)))
                .extracting(Decision::countedAs)
                .isSubsetOf("adopt");
    }

    private List<GpuId> theirs() {
        return strangers.stream().flatMap(stranger -> stranger.gpus().stream()).toList();
    }

    /** Whether a process that ran before has a GPU. */
    boolean isUsedByStrangers(GpuId gpu) {
        return theirs().contains(gpu);
    }

    /** The workers of a job that Lendstream started. */
    long workers(String job) {
        return hosts.stream()
                .flatMap(host -> host.processes().stream())
                .filter(process -> Stranger.isWorkerOf(process, job))
                .distinct()
                .count();
    }

    /**
     * Checks all that was written: the units of unknown processes stayed foreign once their users were seen, and the
     * history is without fault.
     */
    Verdict judge() {
        for (Stranger unknown : strangers.stream().filter(Stranger::isUnknown).toList()) {
            List<Owner> since = deployment.read(TopicCatalogue.LEASES).stream()
                    .filter(lease -> unknown.gpus().contains(lease.gpuId()))
                    .map(Lease::owner)
                    .dropWhile(owner -> users(owner).isEmpty())
                    .toList();
            assertThat(since).isNotEmpty().allMatch(owner -> users(owner).equals(users(since.get(0))));
        }
        return deployment.awaitCleanHistory(DOMAIN);
    }

    private static List<String> users(Owner owner) {
        return owner.asForeign().map(ForeignUse::users).orElse(List.of());
    }

    private void writePrograms() throws IOException {
        Files.createDirectories(directory.resolve("programs/jobs"));
        Files.createDirectories(directory.resolve("programs/services"));
        Files.writeString(directory.resolve("programs/jobs/bert.json"), """
                {"mode": "restart", "command": ["sleep", "600"], "directory": "/", "maxRestarts": 0, "graceSeconds": 5}
                """);
        // It needs some seconds to leave, so that something can happen meanwhile.
        Files.writeString(directory.resolve("programs/jobs/llama.json"), """
                {
                  "mode": "restart",
                  "command": ["sh", "-c", "trap 'sleep 6; kill $!; trap - TERM; kill -TERM $$' TERM; sleep 600 & wait"],
                  "directory": "/",
                  "maxRestarts": 0,
                  "graceSeconds": 20
                }
                """);
        Files.writeString(directory.resolve("programs/services/chat.json"), """
                {"command": ["sleep", "600"]}
                """);
    }

    private Running startScheduler() {
        return lab.start(
                ServiceKind.SCHEDULER,
                "--set",
                "scheduler.policy=lendstream:plan-every=5s",
                "--set",
                "scheduler.heed-users=true",
                "--set",
                "scheduler.first-trust=advise",
                "--set",
                "kafka.state.dir=" + directory.resolve("scheduler-state"));
    }

    /** Three GPUs on the first host, of training, and two on each other one, of inference. */
    private Running startAgent(Host host) {
        boolean isFirst = host == hosts.get(0);
        return lab.start(
                host,
                ServiceKind.AGENT,
                "--backend",
                "simulated",
                "--nodes",
                "1",
                "--gpus-per-node",
                isFirst ? "3" : "2",
                "--training-nodes",
                isFirst ? "1" : "0",
                "--set",
                "agent.node=" + host.name(),
                "--set",
                "agent.domain=" + DOMAIN,
                "--set",
                "agent.simulated.processes=true",
                "--set",
                "agent.period=1s");
    }

    private Running startActuator(Host host) {
        return lab.start(
                host,
                ServiceKind.ACTUATOR,
                "--state-dir",
                directory.resolve("actuator-" + host.name()).toString(),
                "--set",
                "actuator.name=" + host.name(),
                "--set",
                "actuator.driver=process",
                "--set",
                "actuator.nodes=" + host.name(),
                "--set",
                "actuator.domains=" + DOMAIN,
                "--set",
                "actuator.process.programs=" + directory.resolve("programs"));
    }

    @Override
    public void close() {
        strangers.forEach(stranger -> stranger.starter().destroyForcibly());
        hosts.forEach(Host::close);
    }
}
