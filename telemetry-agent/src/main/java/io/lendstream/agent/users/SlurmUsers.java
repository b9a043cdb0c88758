package io.lendstream.agent.users;

import io.lendstream.agent.gpu.GpuProcess;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds Slurm jobs by the control groups of the processes that compute on GPUs. A job without a computing process on
 * its GPU is not found. A GPU with a process outside of any job has unknown users, unless another source names it.
 *
 * @see <a href="https://slurm.schedmd.com/cgroup_v2.html">Slurm's control groups</a>, of version 2 and, where a path
 *     begins with {@code /slurm/uid_}, of version 1
 */
public final class SlurmUsers implements UserSource {
    private static final Pattern JOB =
            Pattern.compile("/(?:slurm(?:_[^/]+)?/uid_\\d+|(?:[^/]+_)?slurmstepd\\.scope)/job_(\\d+)(?=/|$)");

    private final Path proc;
    private final boolean othersAreNamed;

    /** @param othersAreNamed whether {@link ProcessUsers} names processes outside of jobs */
    public SlurmUsers(boolean othersAreNamed) {
        this(Path.of("/proc"), othersAreNamed);
    }

    SlurmUsers(Path proc, boolean othersAreNamed) {
        this.proc = proc;
        this.othersAreNamed = othersAreNamed;
    }

    @Override
    public Answer of(GpuSnapshot sight) {
        Map<GpuId, List<GpuId>> instances = new HashMap<>();
        for (Gpu gpu : sight.gpus()) {
            instances.put(
                    gpu.gpuId(),
                    gpu.instances().stream().map(GpuInstance::gpuId).toList());
        }
        var users = new HashMap<GpuId, Set<String>>();
        var doubtful = new HashSet<GpuId>();
        sight.untold().forEach(gpu -> doubt(gpu, instances, doubtful));
        int unread = 0;
        for (GpuProcess process : sight.processes()) {
            Optional<String> groups = groups(process.pid());
            if (groups.isEmpty()) {
                unread++;
                doubt(process.gpuId(), instances, doubtful);
                continue;
            }
            Optional<String> job = job(groups.get());
            if (job.isEmpty() && !othersAreNamed) {
                doubt(process.gpuId(), instances, doubtful);
            }
            job.ifPresent(number -> {
                users.computeIfAbsent(process.gpuId(), added -> new TreeSet<>()).add("slurm/" + number);
                doubtful.addAll(
                        instances.getOrDefault(process.gpuId(), List.of())); // the driver does not report its instance
            });
        }
        return new Answer(users, doubtful, why(sight, unread));
    }

    private static void doubt(GpuId gpu, Map<GpuId, List<GpuId>> instances, Set<GpuId> doubtful) {
        doubtful.add(gpu);
        doubtful.addAll(instances.getOrDefault(gpu, List.of()));
    }

    /** An unreadable process has ended; if none is readable, the agent's own placement is wrong. */
    private String why(GpuSnapshot sight, int unread) {
        if (!sight.untold().isEmpty()) {
            return "the driver does not report the processes of %d GPUs, so their Slurm jobs are unknown. Run the agent as root."
                    .formatted(sight.untold().size());
        }
        return unread == 0 || unread < sight.processes().size()
                ? ""
                : "none of %d processes on GPUs is in %s, so their Slurm jobs are unknown. Run the agent on the host, or in its PID namespace."
                        .formatted(unread, proc);
    }

    private Optional<String> groups(long pid) {
        try {
            return Optional.of(
                    Files.readString(proc.resolve(String.valueOf(pid)).resolve("cgroup"), StandardCharsets.UTF_8));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The job of a process with these control groups, one a line; empty for a process outside of jobs. */
    static Optional<String> job(String groups) {
        Matcher found = JOB.matcher(groups);
        return found.find() ? Optional.of(found.group(1)) : Optional.empty();
    }

    @Override
    public void close() {
        // nothing is open
    }
}
