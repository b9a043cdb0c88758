package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Intruders;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three training GPUs. A process that a user started past Lendstream uses one of them; a job wants two. When the process
 * has gone, jobs that bring their commands get its GPU.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class ForeignUseIT {
    private static final String JOB = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: bert
              domain: beside
            spec:
              application: cifar10
              gpus: 2
            """;

    private static final String SETTINGS = """
            apiVersion: lendstream.io/v1
            kind: DomainSettings
            metadata:
              name: beside
            spec:
              max-transfers: 33
              slo-extra: 0.5
            """;

    @TempDir
    private Path directory;

    @Test
    void aGpuThatAnotherProcessUsesIsGivenToNobodyUntilThatHasGone() throws Exception {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "processes are read from /proc, which is not there");
        try (Deployment deployment = new Deployment(1)) {
            SharedMachine machine = new SharedMachine(deployment, directory, "beside");
            startAll(machine);
            awaitOwners(machine, "free", "free", "free");
            List<GpuId> gpus = List.copyOf(machine.leases(Pool.TRAINING).keySet());
            Process other = SharedMachine.started("other", gpus.subList(1, 2));
            try {
                isGivenToNobodyBeside(other, machine);
                isNotedBesideTheJob(machine);
                hasSettingsOfItsOwn(deployment);
                runsCommands(machine);
            } finally {
                other.destroyForcibly();
                deployment.command("delete", "job", "bert"); // its workers would go on
            }
        }
    }

    private void isGivenToNobodyBeside(Process other, SharedMachine machine) throws Exception {
        Deployment deployment = machine.deployment();
        awaitOwners(machine, "foreign", "free", "free");
        Path file = Files.writeString(directory.resolve("job.yaml"), JOB);
        Printed applied = deployment.command("apply", "-f", file.toString());
        assertThat(applied.exit()).as(applied.out() + applied.err()).isZero();
        awaitOwners(machine, "foreign", "training", "training");

        ForeignUse use = machine.leases(Pool.TRAINING).values().stream()
                .flatMap(lease -> lease.owner().asForeign().stream())
                .findFirst()
                .orElseThrow();
        assertThat(use.users()).singleElement().asString().startsWith("process/" + other.pid() + "-");
        Printed top = deployment.command("top", "--once");
        assertThat(top.out()).contains("1 foreign", "foreign: used by process/" + other.pid());
        assertThat(other.isAlive()).isTrue();

        other.destroy();
        awaitOwners(machine, "free", "training", "training");
    }

    /** A process on a GPU of the job: the agent reads the job's name, and so it is certain who is not the job. */
    private void isNotedBesideTheJob(SharedMachine machine) throws Exception {
        GpuId gpu = machine.leases(Pool.TRAINING).values().stream()
                .filter(lease -> lease.owner().isUp())
                .map(Lease::gpuId)
                .findFirst()
                .orElseThrow();
        Process beside = SharedMachine.started("beside", List.of(gpu));
        try {
            await().atMost(Deployment.PATIENCE)
                    .untilAsserted(() -> assertThat(machine.leases(Pool.TRAINING)
                                    .get(gpu)
                                    .intruders()
                                    .map(Intruders::users))
                            .hasValueSatisfying(users -> assertThat(users)
                                    .singleElement()
                                    .asString()
                                    .startsWith("process/" + beside.pid() + "-")));
            String shown = "training job bert, also used by process/" + beside.pid();
            Deployment deployment = machine.deployment();
            for (List<String> command :
                    List.of(List.of("top", "--once"), List.of("describe", "job/bert"), List.of("doctor"))) {
                Printed printed = deployment.command(command.toArray(new String[0]));
                System.out.print(printed.out());
                assertThat(printed.out()).as(command + printed.err()).contains(shown);
            }
            assertThat(beside.isAlive()).isTrue();
            awaitOwners(machine, "free", "training", "training");
        } finally {
            beside.destroyForcibly();
        }
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(
                        () -> assertThat(machine.leases(Pool.TRAINING).get(gpu).intruders())
                                .isEmpty());
    }

    /** The settings that the domain declares, while its scheduler runs. */
    private void hasSettingsOfItsOwn(Deployment deployment) throws Exception {
        Path file = Files.writeString(directory.resolve("settings.yaml"), SETTINGS);
        assertThat(deployment.command("apply", "-f", file.toString()).out())
                .isEqualTo("domainsettings/beside created\n");
        await().atMost(Deployment.PATIENCE)
                .untilAsserted(
                        () -> assertThat(deployment.command("top", "--once").out())
                                .contains("; declared for the domain: max-transfers, slo-extra"));
        Printed shown = deployment.command("describe", "domainsettings", "beside");
        System.out.print(shown.out());
        assertThat(shown.out())
                .as(shown.err())
                .containsPattern("max-transfers +33 +declared; configuration: 1000\n")
                .containsPattern("foreign-gone-after +4s +configuration\n");

        Files.writeString(file, SETTINGS.replace("max-transfers: 33", "notice: 1m"));
        Printed refused = deployment.command("apply", "-f", file.toString());
        assertThat(refused.exit()).isEqualTo(2);
        assertThat(refused.err()).contains("spec.notice is '1m', but cannot be declared for a domain.");

        Printed deleted = deployment.command("delete", "domainsettings", "beside");
        assertThat(deleted.exit()).as(deleted.out() + deleted.err()).isZero();
        assertThat(deployment.command("top", "--once").out()).doesNotContain("declared for the domain");
    }

    /** The commands of jobs, beside the program file of another one. */
    private void runsCommands(SharedMachine machine) throws Exception {
        Printed taken = run(machine, "cifar10", "touch taken");
        assertThat(taken.exit()).as(taken.out() + taken.err()).isEqualTo(1);
        assertThat(taken.out())
                .endsWith(
                        "job/of-cifar10 failed: job of-cifar10 brings its own command, but this machine has jobs/cifar10.json for its application; choose another application, or declare the job without a command\n");
        awaitOwners(machine, "free", "training", "training");

        Printed why = machine.deployment().command("describe", "job/of-cifar10");
        assertThat(why.out()).as(why.err()).contains("this machine has jobs/cifar10.json for its application");

        Printed done = run(machine, "own", "echo $LENDSTREAM_JOB > done; sleep 3");
        System.out.print(done.out() + done.err());
        assertThat(done.exit()).as(done.out() + done.err()).isZero();
        assertThat(done.out().lines())
                .containsSubsequence("job/of-own queued", "job/of-own running on 1 GPU", "job/of-own finished");
        assertThat(directory.resolve("done")).hasContent("of-own");
        assertThat(directory.resolve("taken")).doesNotExist();
        awaitOwners(machine, "free", "training", "training");

        Printed again = run(machine, "own", "true");
        assertThat(again.exit()).isEqualTo(1);
        assertThat(again.err()).startsWith("--name is of-own, but job/of-own is declared already, in domain beside");
    }

    private Printed run(SharedMachine machine, String application, String script) {
        return machine.deployment()
                .command(
                        "run",
                        "--name",
                        "of-" + application,
                        "--application",
                        application,
                        "--gpus",
                        "1",
                        "--domain",
                        "beside",
                        "--directory",
                        directory.toString(),
                        "--wait",
                        "--",
                        "sh",
                        "-c",
                        script);
    }

    private static void awaitOwners(SharedMachine machine, String... labels) {
        machine.awaitOwners(Pool.TRAINING, Deployment.PATIENCE, labels);
    }

    private void startAll(SharedMachine machine) throws IOException {
        Files.createDirectories(directory.resolve("programs/jobs"));
        Files.writeString(directory.resolve("programs/jobs/cifar10.json"), """
                {"mode": "restart", "command": ["sleep", "300"], "directory": "/", "maxRestarts": 0, "graceSeconds": 5}
                """);
        machine.start(
                ServiceKind.SCHEDULER,
                "--set",
                "scheduler.policy=lendstream:plan-every=5s",
                "--set",
                "scheduler.heed-users=true",
                "--set",
                "scheduler.foreign-gone-after=4s",
                "--set",
                "kafka.state.dir=" + directory.resolve("scheduler-state"));
        machine.start(
                ServiceKind.ACTUATOR,
                "--state-dir",
                directory.resolve("actuator").toString(),
                "--set",
                "actuator.driver=process",
                "--set",
                "actuator.nodes=all",
                "--set",
                "actuator.domains=beside",
                "--set",
                "actuator.process.submitted-commands=true",
                "--set",
                "actuator.process.programs=" + directory.resolve("programs"));
        machine.startAgent(3);
    }
}
