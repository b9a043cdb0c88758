package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The environment of a worker; starts themselves are tested with the host. */
class WorkerStarterTest {
    private static final Path HOME = Path.of("/state/jobs/example");

    private final WorkerIdentity identity = new WorkerIdentity("w", "secret", slots("0,2"), change(1));
    private final Job.Shared shared =
            new Job.Shared(Path.of("/state/jobs.sock"), CleanEnvironment.of(Map.of(), List.of()), System::nanoTime);

    private Map<String, String> environment(Map<String, String> ofProgram, Map<String, String> ofMode) {
        JobProgram program =
                JobProgram.of(JobProgram.Mode.AFE, List.of("train"), HOME).with(ofProgram);
        return new WorkerStarter(ExampleJob.ID, program, HOME, shared)
                .environment(identity, new Batching(4, 2, 0.5), WorldPart.localNetwork(), ofMode);
    }

    @Test
    void aWorkerGetsItsDevicesItsBatchAndTheWayToTheNodeProcess() {
        assertThat(environment(Map.of(), Map.of("RANK", "1")))
                .isEqualTo(Map.of(
                        "GLOO_SOCKET_IFNAME", "lo",
                        "CUDA_VISIBLE_DEVICES", "0,2",
                        "LENDSTREAM_AFE_SOCKET", "/state/jobs.sock",
                        "LENDSTREAM_AFE_TOKEN", "secret",
                        "LENDSTREAM_LOCAL_BATCH", "4",
                        "LENDSTREAM_ACCUMULATION", "2",
                        "LENDSTREAM_LEARNING_RATE_SCALE", "0.5",
                        "RANK", "1"));
    }

    @Test
    void aProgramMayChooseTheNetworkButNotTheDevices() {
        assertThat(environment(Map.of("GLOO_SOCKET_IFNAME", "eth0", "CUDA_VISIBLE_DEVICES", "7"), Map.of()))
                .containsEntry("GLOO_SOCKET_IFNAME", "eth0")
                .containsEntry("CUDA_VISIBLE_DEVICES", "0,2");
    }

    @Test
    void namesAndTokensOfWorkersDifferAndLogsShowOnlyTheName() {
        var one = WorkerIdentity.create(ExampleJob.ID, slots("0"), change(1));
        var other = WorkerIdentity.create(ExampleJob.ID, slots("0"), change(1));

        assertThat(one.name())
                .startsWith("example-")
                .hasSize("example-".length() + 12)
                .isNotEqualTo(other.name());
        assertThat(one.token()).hasSize(32).isNotEqualTo(other.token());
        assertThat(one).hasToString(one.name());
        assertThat(WorkerIdentity.of(one.entry())).isEqualTo(one);
    }
}
