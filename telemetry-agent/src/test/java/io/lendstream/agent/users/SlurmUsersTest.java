package io.lendstream.agent.users;

import static io.lendstream.agent.users.Seen.GPU_0;
import static io.lendstream.agent.users.Seen.GPU_1;
import static io.lendstream.agent.users.Seen.GPU_2;
import static io.lendstream.agent.users.Seen.MIG_A;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.agent.gpu.GpuProcess;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlurmUsersTest {
    @TempDir
    Path proc;

    private GpuSnapshot asked(GpuSnapshot sight) {
        try (var users = new Users(List.of(new SlurmUsers(proc, false)))) {
            return users.in(sight);
        }
    }

    private GpuProcess process(GpuId gpu, long pid, String groups) throws IOException {
        Files.writeString(
                Files.createDirectories(proc.resolve(String.valueOf(pid))).resolve("cgroup"), groups);
        return new GpuProcess(gpu, pid, Optional.empty());
    }

    private GpuProcess ended(GpuId gpu, long pid) {
        return new GpuProcess(gpu, pid, Optional.empty());
    }

    @ParameterizedTest
    @CsvSource({
        "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0, 4711",
        "0::/system.slice/node7_slurmstepd.scope/job_12/step_batch/slurm, 12",
        "8:devices:/slurm/uid_1000/job_345/step_0/task_0, 345",
        "8:devices:/slurm_node7/uid_0/job_345, 345",
        "0::/user.slice/user-1000.slice/session-3.scope, ",
        "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-job_1.scope, ",
        "0::/home/slurm/job_7, "
    })
    void theJobStandsInTheControlGroup(String groups, String job) {
        assertThat(SlurmUsers.job(groups + "\n")).isEqualTo(Optional.ofNullable(job));
    }

    @Test
    void jobsAreNamedOnceAndGpusWithoutAProcessHaveNoUser() throws IOException {
        GpuSnapshot sight = asked(Seen.with(
                process(GPU_0, 10, "0::/system.slice/slurmstepd.scope/job_9/step_0\n"),
                process(GPU_0, 11, "0::/system.slice/slurmstepd.scope/job_10/step_0\n"),
                process(GPU_0, 12, "0::/system.slice/slurmstepd.scope/job_9/step_1\n"),
                process(MIG_A, 14, "12:cpuset:/slurm/uid_1/job_11/step_0\n1:name=systemd:/\n")));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of(
                        "GPU-0", "slurm/10 slurm/9",
                        "GPU-1", "",
                        "GPU-2", "slurm/11",
                        "GPU-2/0:4", "slurm/11",
                        "GPU-2/4:4", ""));
        assertThat(sight.why()).isEmpty();
    }

    @Test
    void aProcessOutsideOfAnyJobMakesUsersUnknown() throws IOException {
        GpuSnapshot sight = asked(Seen.with(
                process(GPU_0, 10, "0::/system.slice/slurmstepd.scope/job_9/step_0\n"),
                process(GPU_0, 11, "0::/user.slice/user-1000.slice/session-3.scope\n"),
                process(GPU_1, 12, "0::/init.scope\n"),
                process(MIG_A, 13, "0::/init.scope\n")));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of("GPU-0", "?", "GPU-1", "?", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", ""));
    }

    @Test
    void aProcessThatHasEndedMakesItsGpuUnknownAndNoOther() throws IOException {
        GpuSnapshot sight = asked(Seen.with(
                process(GPU_0, 10, "0::/system.slice/slurmstepd.scope/job_9/step_0\n"),
                ended(GPU_1, 11),
                ended(MIG_A, 12)));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of("GPU-0", "slurm/9", "GPU-1", "?", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", ""));
        assertThat(sight.why()).isEmpty();
    }

    @Test
    void whereNoProcessCanBeReadTheAgentStandsInTheWrongPlace() {
        GpuSnapshot sight = asked(Seen.with(ended(GPU_0, 10), ended(GPU_1, 11)));

        assertThat(Seen.users(sight)).containsEntry("GPU-0", "?").containsEntry("GPU-1", "?");
        assertThat(sight.why()).startsWith("none of 2 processes on GPUs is in ").contains("on the host");
    }

    @Test
    void aGpuWhoseProcessesTheDriverDoesNotTellIsUnknown() throws IOException {
        GpuSnapshot sight = asked(Seen.with(
                Set.of(GPU_0, GPU_2), process(GPU_1, 10, "0::/system.slice/slurmstepd.scope/job_9/step_0\n")));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of("GPU-0", "?", "GPU-1", "slurm/9", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", "?"));
        assertThat(sight.why()).contains("the processes of 2 GPUs").contains("as root");
    }

    @Test
    void whereTheDriverDoesNotTellTheInstanceAJobMayBeOnAnyOfThem() throws IOException {
        GpuSnapshot sight = asked(Seen.with(process(GPU_2, 10, "0::/system.slice/slurmstepd.scope/job_9/step_0\n")));

        assertThat(Seen.users(sight))
                .isEqualTo(Map.of("GPU-0", "", "GPU-1", "", "GPU-2", "?", "GPU-2/0:4", "?", "GPU-2/4:4", "?"));
    }
}
