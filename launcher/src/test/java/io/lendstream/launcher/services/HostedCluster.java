package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
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
import java.util.TreeMap;

/**
 * Hosts with an agent and an actuator of driver {@code process} on each, and a scheduler, beside what runs on the hosts
 * already.
 */
final class HostedCluster implements AutoCloseable {
    static final DomainId DOMAIN = new DomainId("lab");

    private final Path directory;
    private final Deployment deployment;
    private final SharedMachine lab;
    private final List<String> ofActuators;
    private final List<Machine> machines;
    private final List<Host> hosts = new ArrayList<>();
    private final Map<Host, Running> agents = new HashMap<>();
    private final Map<Host, Running> actuators = new HashMap<>();
    private Running scheduler;

    /** A host with so many simulated GPUs, all of one pool. */
    record Machine(String name, Pool pool, int gpus) {}

    /**
     * Starts hosts and services. Where Linux allows no hosts, they are this machine, which is printed.
     *
     * @param ofActuators settings of all actuators, beside those that differ
     */
    HostedCluster(Deployment deployment, Path directory, List<Machine> machines, List<String> ofActuators)
            throws IOException {
        this.deployment = deployment;
        this.directory = directory;
        this.machines = List.copyOf(machines);
        this.ofActuators = List.copyOf(ofActuators);
        this.lab = new SharedMachine(deployment, directory, DOMAIN.value());
        Files.createDirectories(programs());
        Optional<String> obstacle = Host.obstacle();
        obstacle.ifPresent(why -> System.out.println("the hosts are one: " + why));
        try {
            for (Machine machine : machines) {
                hosts.add(
                        obstacle.isEmpty()
                                ? Host.started(machine.name(), deployment, directory)
                                : Host.here(machine.name()));
            }
            startAll();
        } catch (IOException | RuntimeException | AssertionError e) {
            close();
            throw e;
        }
    }

    SharedMachine lab() {
        return lab;
    }

    Deployment deployment() {
        return deployment;
    }

    List<Host> hosts() {
        return List.copyOf(hosts);
    }

    /** Where actuators find programs. */
    Path programs() {
        return directory.resolve("programs");
    }

    /** The GPUs of a host, as its agent has published them; none before. */
    List<GpuId> gpus(int number) {
        String name = machines.get(number).name();
        return deployment.read(TopicCatalogue.NODES).stream()
                .filter(node -> node.nodeId().value().equals(name))
                .reduce((older, newer) -> newer)
                .map(node -> node.gpus().stream().map(Gpu::gpuId).toList())
                .orElse(List.of());
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
        startAll();
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
                agents.put(host, startAgent(number));
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

    /** Checks that {@code top} shows who uses the GPUs, or who owns them after all was taken over. */
    void checkTop(List<Stranger> strangers, boolean isTakenOver) throws IOException {
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

    private void startAll() {
        scheduler = startScheduler();
        for (int number = 0; number < hosts.size(); number++) {
            agents.put(hosts.get(number), startAgent(number));
        }
        hosts.forEach(host -> actuators.put(host, startActuator(host)));
    }

    private Running startScheduler() {
        return lab.start(
                Host.here(""),
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

    private Running startAgent(int number) {
        Machine machine = machines.get(number);
        return lab.start(
                hosts.get(number),
                ServiceKind.AGENT,
                "--backend",
                "simulated",
                "--nodes",
                "1",
                "--gpus-per-node",
                Integer.toString(machine.gpus()),
                "--training-nodes",
                machine.pool() == Pool.TRAINING ? "1" : "0",
                "--set",
                "agent.node=" + machine.name(),
                "--set",
                "agent.domain=" + DOMAIN,
                "--set",
                "agent.simulated.processes=true",
                "--set",
                "agent.period=1s");
    }

    private Running startActuator(Host host) {
        List<String> settings = new ArrayList<>(ofActuators);
        settings.addAll(List.of(
                "actuator.name=" + host.name(),
                "actuator.driver=process",
                "actuator.nodes=" + host.name(),
                "actuator.domains=" + DOMAIN,
                "actuator.state-dir=" + directory.resolve("actuator-" + host.name()),
                "actuator.process.programs=" + programs()));
        return lab.start(
                host,
                ServiceKind.ACTUATOR,
                settings.stream()
                        .flatMap(setting -> List.of("--set", setting).stream())
                        .toArray(String[]::new));
    }

    @Override
    public void close() {
        hosts.forEach(Host::close);
    }
}
