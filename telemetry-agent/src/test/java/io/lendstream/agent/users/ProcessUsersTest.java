package io.lendstream.agent.users;

import static io.lendstream.agent.users.Seen.GPU_0;
import static io.lendstream.agent.users.Seen.GPU_1;
import static io.lendstream.agent.users.Seen.GPU_2;
import static io.lendstream.agent.users.Seen.MIG_A;
import static io.lendstream.agent.users.Seen.MIG_B;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.agent.gpu.GpuProcess;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.agent.users.ProcessUsers.Source;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.id.GpuId;
import io.lendstream.service.fake.FakeProc;
import io.lendstream.service.host.HostProcesses;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessUsersTest {
    private static final String PYTHON = "/none/bin/python3";
    private static final String JOB = "0::/system.slice/slurmstepd.scope/job_9/step_0";
    private static final String POD =
            "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-2.scope";

    @TempDir
    Path directory;

    private FakeProc proc;

    @BeforeEach
    void start() {
        proc = new FakeProc(directory);
    }

    private GpuSnapshot asked(GpuSnapshot sight) {
        return asked(sight, Set.of());
    }

    private GpuSnapshot asked(GpuSnapshot sight, Set<Source> others, UserSource... sources) {
        var processes = new ProcessUsers(new HostProcesses(directory), List.of("nvidia-cuda-mps-*"), others);
        try (var users = new Users(List.of(sources), Optional.of(processes))) {
            return users.in(sight);
        }
    }

    private static GpuProcess on(GpuId gpu, long pid) {
        return new GpuProcess(gpu, pid, Optional.empty());
    }

    /** The kubelet says this of GPU-0, and that no other device has a pod. */
    private static UserSource pods(String... users) {
        return new UserSource() {
            @Override
            public Answer of(GpuSnapshot sight) {
                return new Answer(users.length == 0 ? Map.of() : Map.of(GPU_0, Set.of(users)), Set.of(), "");
            }

            @Override
            public void close() {}
        };
    }

    @Test
    void processesAreNamedByTheirRootAndTenantsByTheirNames() {
        proc.with(10, 1, 500, PYTHON)
                .with(11, 10, 510, PYTHON)
                .with(12, 10, 510, PYTHON)
                .with(20, 1, 600, PYTHON)
                .environment(20, "LENDSTREAM_TENANT=lendstream/east/service/chat");

        GpuSnapshot sight = asked(Seen.with(on(GPU_0, 11), on(GPU_0, 12), on(GPU_1, 20), on(MIG_A, 12)));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of(
                        "GPU-0", "process/10-500",
                        "GPU-1", "lendstream/east/service/chat",
                        "GPU-2", "process/10-500",
                        "GPU-2/0:4", "process/10-500",
                        "GPU-2/4:4", ""));
        assertThat(sight.why()).isEmpty();
    }

    @Test
    void whereTheDriverDoesNotTellTheInstanceAllInstancesAreUnknown() {
        proc.with(10, 1, 500, PYTHON);

        assertThat(Seen.users(asked(Seen.with(on(GPU_2, 10), on(MIG_B, 10)))))
                .isEqualTo(Map.of("GPU-0", "", "GPU-1", "", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", "?"));
    }

    @Test
    void aProcessThatDiedWhileWeLookedMakesItsGpuUnknownAndNoOther() {
        proc.with(10, 1, 500, PYTHON).with(11, 1, 500, PYTHON).stat(11, 1, 500, "python3", 'Z');

        GpuSnapshot sight = asked(Seen.with(on(GPU_0, 10), on(GPU_1, 11), on(MIG_A, 12)));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of(
                        "GPU-0", "process/10-500", "GPU-1", "?", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", ""));
        assertThat(sight.why()).isEmpty();
    }

    @Test
    void whereNoProcessCanBeReadTwiceTheAgentSaysSo() {
        proc.with(20, 1, 500, PYTHON);
        var processes = new ProcessUsers(new HostProcesses(directory), List.of(), Set.of());
        try (var users = new Users(List.of(), Optional.of(processes))) {
            GpuSnapshot sight = Seen.with(on(GPU_0, 10), on(GPU_1, 11));
            GpuSnapshot once = users.in(sight);
            GpuSnapshot twice = users.in(sight);
            users.in(Seen.with(on(GPU_0, 20)));
            GpuSnapshot again = users.in(sight);

            assertThat(Seen.users(once)).containsEntry("GPU-0", "?").containsEntry("GPU-1", "?");
            assertThat(Seen.users(twice)).isEqualTo(Seen.users(once));
            assertThat(once.why()).isEmpty();
            assertThat(twice.why()).startsWith("none of 2 processes on GPUs is readable in /proc");
            assertThat(again.why()).isEmpty();
        }
    }

    @Test
    void aGpuWhoseProcessesTheDriverDoesNotTellIsUnknown() {
        proc.with(10, 1, 500, PYTHON);

        assertThat(Seen.users(asked(Seen.with(Set.of(GPU_0, GPU_2), on(GPU_1, 10)))))
                .isEqualTo(Map.of(
                        "GPU-0", "?", "GPU-1", "process/10-500", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", "?"));
    }

    @Test
    void theMpsServerIsNoUserAndItsClientsAre() {
        proc.with(10, 1, 500, "/none/bin/nvidia-cuda-mps-server").with(11, 1, 510, PYTHON);

        assertThat(Seen.users(asked(Seen.with(on(GPU_0, 10), on(GPU_0, 11), on(GPU_1, 10)))))
                .containsEntry("GPU-0", "process/11-510")
                .containsEntry("GPU-1", "");
    }

    @Test
    void processesOfPodsAreNamedByTheirPodsOnly() {
        proc.with(10, 1, 500, PYTHON).groups(10, POD).with(11, 1, 510, PYTHON).groups(11, "0::/user.slice");

        GpuSnapshot sight = asked(
                Seen.with(on(GPU_0, 10), on(GPU_0, 11), on(GPU_1, 10)), Set.of(Source.PODS), pods("kubernetes/a/b/c"));

        assertThat(Seen.users(sight))
                .containsEntry("GPU-0", "kubernetes/a/b/c process/11-510")
                .as("a pod that uses a GPU without a request")
                .containsEntry("GPU-1", "process/10-500");
    }

    @Test
    void whatThePodsSayStaysWhereNoProcessIsSeen() {
        GpuSnapshot sight =
                asked(Seen.with(Set.of(GPU_1), on(GPU_0, 10)), Set.of(Source.PODS), pods("kubernetes/a/b/c"));

        assertThat(Seen.users(sight)).containsEntry("GPU-0", "kubernetes/a/b/c").containsEntry("GPU-1", "");
        assertThat(sight.why()).isEmpty();
    }

    @Test
    void processesOutsideOfSlurmJobsAreNamedToo() {
        proc.with(10, 1, 500, PYTHON)
                .groups(10, JOB)
                .with(11, 1, 510, PYTHON)
                .groups(11, "0::/user.slice")
                .with(12, 1, 520, PYTHON)
                .groups(12, "0::/user.slice");

        GpuSnapshot sight = asked(
                Seen.with(on(GPU_0, 10), on(GPU_0, 11), on(GPU_1, 12)),
                Set.of(Source.SLURM),
                new SlurmUsers(directory, true));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of(
                        "GPU-0", "process/11-510 slurm/9",
                        "GPU-1", "process/12-520",
                        "GPU-2", "",
                        "GPU-2/0:4", "",
                        "GPU-2/4:4", ""));
    }

    @Test
    void memoryInUseWithoutAProcessIsNotUnused() {
        GpuSnapshot sight = Seen.with();
        List<GpuSample> samples = new ArrayList<>(sight.samples());
        samples.set(0, GpuSample.of(GPU_0).memoryUsedBytes(700L << 20).build());
        samples.set(1, GpuSample.of(GPU_1).memoryUsedBytes(500L << 20).build());
        samples.set(2, GpuSample.of(GPU_2).memoryUsedBytes(700L << 20).build());
        samples.set(3, GpuSample.of(MIG_A).memoryUsedBytes(700L << 20).build());

        assertThat(Seen.users(asked(sight.with(samples, ""))))
                .isEqualTo(Map.of("GPU-0", "?", "GPU-1", "", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", ""));
    }
}
