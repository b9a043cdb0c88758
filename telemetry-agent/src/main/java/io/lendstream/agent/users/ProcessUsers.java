package io.lendstream.agent.users;

import io.lendstream.agent.gpu.GpuProcess;
import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.id.GpuId;
import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Names the processes on GPUs that no other source names: tenants of the process driver by their names, others by the
 * PID and start of their root. If other sources name a GPU's users, a process that cannot be read does not make them
 * unknown.
 */
public final class ProcessUsers {
    /** A part of the names of all control groups of pods. */
    private static final String GROUPS_OF_PODS = "kubepods";

    private static final String PODS = "kubernetes/";
    /** A driver's own share, also that of old drivers, is below it; a context with a model is above it. */
    private static final long UNUSED_BYTES = 600L << 20;

    private final HostProcesses host;
    private final List<String> ignored;
    private final Set<Source> others;
    private boolean wasBlind;

    /** The other sources. */
    public enum Source {
        PODS,
        SLURM
    }

    /**
     * @param ignored file names of programs that are no users; with {@code *} at the end all names that start so
     * @param others the sources that are asked before
     */
    public ProcessUsers(HostProcesses host, List<String> ignored, Set<Source> others) {
        this.host = host;
        this.ignored = List.copyOf(ignored);
        this.others = Set.copyOf(others);
    }

    /**
     * The processes that the others have not named.
     *
     * @param named users of GPUs and instances from the other sources
     */
    UserSource.Answer of(GpuSnapshot sight, Map<GpuId, Set<String>> named) {
        var finding = new Round(sight, named);
        sight.processes().forEach(finding::take);
        if (others.isEmpty()) {
            sight.untold().forEach(finding::doubt);
        }
        sight.samples().forEach(finding::weigh);
        return finding.answer();
    }

    /** The users of one snapshot. */
    private final class Round {
        private final GpuSnapshot sight;
        private final Map<GpuId, Set<String>> named;
        private final Map<GpuId, List<GpuId>> instances = new HashMap<>();
        private final Map<GpuId, Set<String>> users = new HashMap<>();
        private final Set<GpuId> doubtful = new HashSet<>();
        private final Set<GpuId> occupied = new HashSet<>();
        private int unread;

        Round(GpuSnapshot sight, Map<GpuId, Set<String>> named) {
            this.sight = sight;
            this.named = named;
            for (Gpu gpu : sight.gpus()) {
                instances.put(
                        gpu.gpuId(),
                        gpu.instances().stream().map(GpuInstance::gpuId).toList());
            }
        }

        void take(GpuProcess on) {
            occupied.add(on.gpuId());
            Optional<HostProcess> process = host.of(on.pid());
            if (process.isEmpty()) {
                unread++;
                if (named.getOrDefault(on.gpuId(), Set.of()).isEmpty()) {
                    doubt(on.gpuId());
                }
                return;
            }
            if (ignored.stream().anyMatch(process.get()::runs) || isNamed(process.get(), on.gpuId())) {
                return;
            }
            users.computeIfAbsent(on.gpuId(), added -> new TreeSet<>()).add(host.user(process.get()));
            doubtful.addAll(instances.getOrDefault(on.gpuId(), List.of())); // the driver does not report its instance
        }

        /** Whether another source names this process. */
        private boolean isNamed(HostProcess process, GpuId gpu) {
            if (others.isEmpty()) {
                return false;
            }
            String groups = host.groups(process).orElse("");
            boolean isPods = others.contains(Source.PODS)
                    && groups.contains(GROUPS_OF_PODS)
                    && named.getOrDefault(gpu, Set.of()).stream().anyMatch(user -> user.startsWith(PODS));
            boolean isJobs =
                    others.contains(Source.SLURM) && SlurmUsers.job(groups).isPresent();
            return isPods || isJobs;
        }

        private void doubt(GpuId gpu) {
            doubtful.add(gpu);
            doubtful.addAll(instances.getOrDefault(gpu, List.of()));
        }

        /** A device without a process that has much memory in use is not surely unused. */
        void weigh(GpuSample sample) {
            GpuId gpu = sample.gpuId();
            boolean isCut = !instances.getOrDefault(gpu, List.of()).isEmpty();
            boolean hasUser =
                    occupied.contains(gpu) || !named.getOrDefault(gpu, Set.of()).isEmpty();
            long usedBytes = sample.memory().memoryUsedBytes().orElse(0L);
            if (!isCut && !hasUser && usedBytes > UNUSED_BYTES) {
                doubtful.add(gpu);
            }
        }

        /** A last process may end while it is read; that twice in a row no process is readable has another cause. */
        UserSource.Answer answer() {
            boolean isBlind = others.isEmpty()
                    && unread > 0
                    && unread == sight.processes().size();
            String why = isBlind && wasBlind
                    ? "none of %d processes on GPUs is readable in /proc, so the users of their GPUs are unknown. Run the agent on the host or in its PID namespace, and mount /proc without hidepid (agent.processes)"
                            .formatted(unread)
                    : "";
            wasBlind = isBlind;
            return new UserSource.Answer(users, doubtful, why);
        }
    }
}
