package io.lendstream.agent.users;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Combines the users of each GPU from all sources. If one source is uncertain, the users are unknown, because an
 * incomplete list would be read as a complete one. A GPU in MIG mode has the users of its instances.
 */
public final class Users implements AutoCloseable {
    /** No sources, and no users. */
    public static final Users UNASKED = new Users(List.of());

    private final List<UserSource> sources;
    private final Optional<ProcessUsers> processes;

    public Users(List<? extends UserSource> sources) {
        this(sources, Optional.empty());
    }

    /** @param processes names the processes that the sources do not name */
    public Users(List<? extends UserSource> sources, Optional<ProcessUsers> processes) {
        this.sources = List.copyOf(sources);
        this.processes = processes;
    }

    /** A snapshot, and the users of its devices. */
    public GpuSnapshot in(GpuSnapshot sight) {
        boolean isAsked = !sources.isEmpty() || processes.isPresent();
        if (!isAsked || sight.samples().isEmpty()) {
            return sight;
        }
        var users = new HashMap<GpuId, Set<String>>();
        var doubtful = new HashSet<GpuId>();
        var known = new HashSet<GpuId>(); // without lost GPUs, which have only a sample of errors
        var whys = new ArrayList<String>();
        if (!sight.why().isEmpty()) {
            whys.add(sight.why());
        }
        Consumer<UserSource.Answer> collect = answer -> {
            answer.users().forEach((gpu, of) -> users(users, gpu).addAll(of));
            doubtful.addAll(answer.doubtful());
            if (!answer.why().isEmpty()) {
                whys.add(answer.why());
            }
        };
        sources.forEach(source -> collect.accept(source.of(sight)));
        processes.ifPresent(each -> collect.accept(each.of(sight, users)));
        for (Gpu gpu : sight.gpus()) {
            known.add(gpu.gpuId());
            for (GpuInstance instance : gpu.instances()) {
                known.add(instance.gpuId());
                users(users, gpu.gpuId()).addAll(users.getOrDefault(instance.gpuId(), Set.of()));
                if (doubtful.contains(instance.gpuId())) {
                    doubtful.add(gpu.gpuId());
                }
            }
        }
        known.removeAll(doubtful);
        List<GpuSample> samples = sight.samples().stream()
                .map(sample -> known.contains(sample.gpuId())
                        ? sample.withUsers(List.copyOf(users.getOrDefault(sample.gpuId(), Set.of())))
                        : sample)
                .toList();
        return sight.with(samples, String.join("; ", whys));
    }

    /** Sorted, so that equal users give equal samples. */
    private static Set<String> users(Map<GpuId, Set<String>> all, GpuId of) {
        return all.computeIfAbsent(of, added -> new TreeSet<>());
    }

    @Override
    public void close() {
        sources.forEach(UserSource::close);
    }
}
