package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.ServiceState;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.launcher.services.Deployment.Running;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The steps of docs/adoption.md, on three hosts. A job, two replicas, and two processes that are not declared run before
 * Lendstream is installed. In between, scheduler, agents and actuators are killed. Then a GPU is lent and taken back
 * beside them.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
final class AdoptionIT {
    /** Found at a look every 10 s, watched for half a minute, reported again. */
    private static final Duration FOUND = Duration.ofMinutes(2);

    /** Two of the shortest windows that give a rate. */
    private static final Duration STEP = ServiceState.SHORTEST_RATE.multipliedBy(2);

    private static final ServiceId CHAT = new ServiceId("chat");

    private static final String DECLARED = """
            apiVersion: lendstream.io/v1
            kind: Service
            metadata:
              name: chat
              domain: lab
            spec:
              slo: 4s
              replicaCapacityPerSecond: 1.25
              warmUp: 5s
              floor: 2
              adopt:
                environment.ROLE: it-replica
            ---
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: bert
              domain: lab
            spec:
              application: bert
              gpus: 2
              adopt:
                environment.ROLE: it-*-job
            """;

    private static final String NEW = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: llama
              domain: lab
            spec:
              application: llama
              gpus: 1
            """;

    @TempDir
    private Path directory;

    private final List<Process> strangers = new ArrayList<>();
    private final Set<GpuId> theirs = new TreeSet<>();
    private final List<Host> hosts = new ArrayList<>();
    private final Map<String, Running> agents = new TreeMap<>();
    private final Map<String, Running> actuators = new TreeMap<>();

    @Test
    void whatRanBeforeIsTakenOverWithoutARestart() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        Optional<String> obstacle = Host.obstacle();
        obstacle.ifPresent(why -> System.out.println("the three hosts are one: " + why));
        try (Deployment deployment = new Deployment(1)) {
            prepare();
            SharedMachine lab = new SharedMachine(deployment, directory, "lab");
            for (String name : List.of("host-a", "host-b", "host-c")) {
                hosts.add(obstacle.isEmpty() ? Host.started(name, deployment, directory) : Host.here(name));
            }
            Running scheduler = scheduler(lab);
            hosts.forEach(host -> agents.put(host.name(), agent(lab, host)));
            hosts.forEach(host -> actuators.put(host.name(), actuator(lab, host)));
            lab.awaitOwners(Pool.TRAINING, FOUND, "free", "free", "free");
            lab.awaitOwners(Pool.INFERENCE, FOUND, "free", "free", "free", "free");
            startStrangers(lab);
            lab.awaitOwners(Pool.TRAINING, FOUND, "foreign", "foreign", "foreign");
            lab.awaitOwners(Pool.INFERENCE, FOUND, "foreign", "foreign", "foreign", "free");

            isTakenOver(lab);
            killAll(actuators);
            hosts.forEach(host -> actuators.put(host.name(), actuator(lab, host)));
            killAll(agents);
            scheduler.process().destroyForcibly().waitFor();
            scheduler(lab);
            hosts.forEach(host -> agents.put(host.name(), agent(lab, host)));
            try (var gateway = new SteadyGateway(deployment.kafka(), new DomainId("lab"), STEP, CHAT, 5)) {
                gateway.start();
                isInForce(lab);
                areAllAlive();
                isLentAndTakenBack(lab, gateway);
            }
            goesWhenItIsDeleted(lab);
        } finally {
            strangers.forEach(Process::destroyForcibly);
            hosts.forEach(Host::close);
        }
    }

    /** A job on two GPUs of the first host, a replica on each of the others, and two processes that are not declared. */
    private void startStrangers(SharedMachine lab) throws IOException {
        started(0, "it-old-job", gpus(lab, 0).subList(0, 2));
        started(1, "it-replica", gpus(lab, 1).subList(0, 1));
        started(2, "it-replica", gpus(lab, 2).subList(0, 1));
        started(0, "it-unknown", gpus(lab, 0).subList(2, 3));
        started(2, "it-unknown", gpus(lab, 2).subList(1, 2));
    }

    /** The GPUs of a host. */
    private List<GpuId> gpus(SharedMachine lab, int host) {
        String name = hosts.get(host).name();
        return Stream.of(Pool.TRAINING, Pool.INFERENCE)
                .flatMap(pool -> lab.leases(pool).values().stream())
                .filter(lease -> lease.nodeId().value().equals(name))
                .map(Lease::gpuId)
                .toList();
    }

    /** In the advisory mode of a first start, so that nothing else can have moved. */
    private void isTakenOver(SharedMachine lab) throws Exception {
        Deployment deployment = lab.deployment();
        Path file = Files.writeString(directory.resolve("lab.yaml"), DECLARED);
        succeeded(deployment.command(directory, "apply", "-f", file.toString()));
        areOwners(lab);

        Printed shown = succeeded(deployment.command(directory, "adopt", "--dry-run", "--domain", "lab"));
        assertThat(shown.out()).contains("stays foreign:", "no selector matches it");
        Printed trust = succeeded(deployment.command(directory, "trust", "--domain", "lab"));
        assertThat(trust.out()).contains("advise");
        assertThat(deployment.read(TopicCatalogue.DECISIONS))
                .filteredOn(decision -> !decision.advisory())
                .map(Decision::countedAs)
                .containsOnly("adopt");
        areAllAlive();
    }

    /** Each process that is declared owns its GPUs, and the two others are foreign. */
    private void areOwners(SharedMachine lab) {
        lab.awaitOwners(Pool.TRAINING, FOUND, "foreign", "training", "training");
        lab.awaitOwners(Pool.INFERENCE, FOUND, "foreign", "free", "serving", "serving");
    }

    /** Switching advice off moves nothing that runs. */
    private void isInForce(SharedMachine lab) throws Exception {
        succeeded(lab.deployment()
                .command(directory, "trust", "all", "--anyway", "--reason", "it is a test", "--domain", "lab"));
        await().during(Duration.ofSeconds(12))
                .atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(lab.owners(Pool.TRAINING))
                        .containsExactlyInAnyOrder("foreign", "training", "training"));
        areOwners(lab);
    }

    /** The idle GPU is lent to a new job. It is taken back when the service needs a third replica. */
    private void isLentAndTakenBack(SharedMachine lab, SteadyGateway gateway) throws Exception {
        Path file = Files.writeString(directory.resolve("new.yaml"), NEW);
        succeeded(lab.deployment().command(directory, "apply", "-f", file.toString()));
        lab.awaitOwners(Pool.INFERENCE, Deployment.PATIENCE, "foreign", "lent", "serving", "serving");
        areAllAlive();

        gateway.offer(15);
        lab.awaitOwners(Pool.INFERENCE, Deployment.PATIENCE, "foreign", "serving", "serving", "serving");
        lab.awaitOwners(Pool.TRAINING, Deployment.PATIENCE, "foreign", "training", "training");
        areAllAlive();
        assertThat(lab.deployment().read(TopicCatalogue.DECISIONS))
                .filteredOn(decision -> !decision.advisory()
                        && decision.action().gpus().stream().anyMatch(theirs::contains))
                .map(Decision::countedAs)
                .containsOnly("adopt");
    }

    /** From now on the job is one like any other; the new one gets a GPU that it leaves. */
    private void goesWhenItIsDeleted(SharedMachine lab) throws Exception {
        Printed refused = lab.deployment().command(directory, "delete", "service", "chat");
        assertThat(refused.exit()).isEqualTo(1);
        assertThat(refused.err()).contains("service/chat has 'adopt'", "Add --stop");
        succeeded(lab.deployment().command(directory, "delete", "job", "bert"));
        assertThat(strangers.get(0).waitFor(60, TimeUnit.SECONDS))
                .as("the job's process has ended")
                .isTrue();
        lab.awaitOwners(Pool.TRAINING, FOUND, "foreign", "free", "training");
        assertThat(strangers.subList(1, 5)).allMatch(Process::isAlive);
    }

    private void areAllAlive() {
        assertThat(strangers).hasSize(5).allMatch(Process::isAlive);
    }

    private static void killAll(Map<String, Running> services) throws InterruptedException {
        for (Running service : services.values()) {
            Host.kill(service.process());
        }
    }

    private static Printed succeeded(Printed printed) {
        assertThat(printed.exit()).as(printed.out() + printed.err()).isZero();
        return printed;
    }

    private void prepare() throws IOException {
        Files.createDirectories(directory.resolve("programs/jobs"));
        Files.createDirectories(directory.resolve("programs/services"));
        for (String job : List.of("bert", "llama")) {
            Files.writeString(directory.resolve("programs/jobs/%s.json".formatted(job)), """
                    {"mode": "restart", "command": ["sleep", "600"], "directory": "/", "maxRestarts": 0, "graceSeconds": 5}
                    """);
        }
        Files.writeString(directory.resolve("programs/services/chat.json"), """
                {"command": ["sleep", "600"]}
                """);
    }

    private Running scheduler(SharedMachine lab) {
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
    private Running agent(SharedMachine lab, Host host) {
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
                "agent.domain=lab",
                "--set",
                "agent.simulated.processes=true",
                "--set",
                "agent.period=1s");
    }

    private Running actuator(SharedMachine lab, Host host) {
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
                "actuator.domains=lab",
                "--set",
                "actuator.process.programs=" + directory.resolve("programs"));
    }

    private void started(int host, String role, List<GpuId> gpus) throws IOException {
        strangers.add(SharedMachine.started(role, gpus, hosts.get(host)));
        theirs.addAll(gpus);
    }
}
