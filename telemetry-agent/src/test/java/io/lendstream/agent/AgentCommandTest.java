package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.ServiceCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class AgentCommandTest {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return ServiceCommand.execute(
                new AgentCommand(new PrintStream(printed, true, StandardCharsets.UTF_8)), arguments);
    }

    @Test
    void aDryRunPrintsInventoryAndASampleOfEveryNodeWithoutABroker() {
        int exit =
                run("--once", "--json", "--dry-run", "--nodes", "2", "--gpus-per-node", "3", "--training-nodes", "1");

        assertThat(exit).isZero();
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .hasSize(4)
                .anyMatch(line -> line.contains("\"pool\": \"TRAINING\""))
                .anyMatch(line -> line.contains("\"utilizationQuality\": \"MEASURED\""));
    }

    @Test
    void aDryRunForPeopleIsALineAGpu() {
        assertThat(run(
                        "--backend",
                        "simulated",
                        "--dry-run",
                        "--nodes",
                        "2",
                        "--gpus-per-node",
                        "3",
                        "--training-nodes",
                        "1"))
                .isZero();
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .hasSize(1 + 6)
                .anyMatch(line ->
                        line.matches("node-01 +inference +2 +GPU-\\S+ +NVIDIA \\S+ +0% +\\d+MiB +\\d+W +\\d+C"));
    }

    @Test
    void aBackendThatIsNotThereIsNotListed() {
        assertThat(run("--backend", "nvml", "--dry-run")).isEqualTo(2);
    }

    @Test
    void halfOfTheNodesAreTrainingsWhereNothingIsSaid() {
        assertThat(run("--dry-run", "--nodes", "1", "--gpus-per-node", "1")).isZero();
        assertThat(run("--dry-run", "--nodes", "3", "--gpus-per-node", "1")).isZero();

        assertThat(printed.toString(StandardCharsets.UTF_8).lines().map(line -> line.split(" +", 3)[1]))
                .containsExactly("POOL", "inference", "POOL", "training", "inference", "inference");
    }

    @Test
    void moreTrainingNodesThanNodesIsWrongUse() {
        assertThat(run("--dry-run", "--nodes", "2", "--training-nodes", "3")).isEqualTo(2);
    }

    @Test
    void anUnknownSettingIsWrongUse() {
        assertThat(run("--dry-run", "--set", "agent.perid=5s")).isEqualTo(2);
    }

    @Test
    void aMissingBrokerIsAFailureAndNotAHang() {
        assertThat(run("--bootstrap-server", "127.0.0.1:1", "--set", "connect-timeout=1s"))
                .isEqualTo(1);
    }
}
