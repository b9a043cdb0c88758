package io.lendstream.agent.users;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the pods of GPUs through the kubelet. It is asked every few seconds on a thread of its own, so that GPU reads
 * do not wait for it; while it does not answer, users are unknown.
 */
public final class PodUsers implements UserSource {
    /** Pods come and go in seconds; the kubelet accepts 100 such requests a second. */
    private static final Duration EVERY = Duration.ofSeconds(5);

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    /** Resources of NVIDIA's device plugin and its driver for resource claims that are GPUs, or parts of one. */
    private static final Pattern GPUS = Pattern.compile("^nvidia\\.com/(gpu|mig-)|(^|\\.)gpu\\.nvidia\\.com/");

    /** An answer is used for this many periods; afterwards users are unknown. */
    private static final int ROUNDS = 3;

    /** The last answer, and its time by {@link System#nanoTime}. */
    private record Known(Optional<List<DeviceHolding>> holdings, String why, long at) {}

    /** Requests all devices of containers. */
    interface Lister extends AutoCloseable {
        List<DeviceHolding> list() throws IOException, InterruptedException;

        @Override
        void close();
    }

    private final Lister lister;
    private final Duration deadline;
    private final Duration longest;
    private volatile Known known = new Known(Optional.empty(), "the kubelet has not answered yet", System.nanoTime());
    private final CountDownLatch asked = new CountDownLatch(1);
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(body -> {
        var made = new Thread(body, "pods");
        made.setDaemon(true);
        return made;
    });
    private final ScheduledFuture<?> asking;

    /**
     * Starts to ask a kubelet.
     *
     * @param socket its socket, usually {@code /var/lib/kubelet/pod-resources/kubelet.sock}
     */
    public static PodUsers of(Path socket) {
        return new PodUsers(new Kubelet(socket, DEADLINE), EVERY, DEADLINE);
    }

    PodUsers(Lister lister, Duration every, Duration deadline) {
        this.lister = lister;
        this.deadline = deadline;
        this.longest = every.plus(deadline).multipliedBy(ROUNDS);
        this.asking = thread.scheduleWithFixedDelay(this::ask, 0, every.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void ask() {
        try {
            known = new Known(Optional.of(lister.list()), "", System.nanoTime());
        } catch (IOException | RuntimeException e) {
            failed(e.getMessage());
        } catch (Error e) { // uncaught, it would end the thread silently
            failed(e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            asked.countDown();
        }
    }

    private void failed(@Nullable String why) {
        known = new Known(
                Optional.empty(),
                "the kubelet does not return the pods of GPUs: %s (agent.pod-resources)".formatted(why),
                System.nanoTime());
    }

    @Override
    public Answer of(GpuSnapshot sight) {
        awaitFirst();
        Known now = known;
        Duration age = Duration.ofNanos(System.nanoTime() - now.at());
        if (now.holdings().isPresent() && age.compareTo(longest) > 0) {
            return Answer.nothing(
                    sight,
                    "the kubelet last returned the pods of GPUs %d s ago; answers older than %d s are not used (agent.pod-resources)"
                            .formatted(age.toSeconds(), longest.toSeconds()));
        }
        return now.holdings()
                .map(holdings -> answer(sight, holdings))
                .orElseGet(() -> Answer.nothing(sight, now.why()));
    }

    /** The first read waits for an answer; later ones use the latest answer. */
    private void awaitFirst() {
        try {
            asked.await(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Answer answer(GpuSnapshot sight, List<DeviceHolding> holdings) {
        Map<String, GpuId> devices = devices(sight);
        Map<String, Gpu> cut = cut(sight);
        var doubtful = new HashSet<GpuId>();
        cut.values().stream().filter(gpu -> gpu.instances().isEmpty()).forEach(gpu -> doubt(gpu, doubtful));
        var users = new HashMap<GpuId, Set<String>>();
        var strangers = new TreeSet<String>();
        for (DeviceHolding holding : holdings) {
            GpuId gpu = devices.get(unshared(holding.device()));
            Gpu whole = cut.get(unshared(holding.device()));
            if (gpu != null) {
                users.computeIfAbsent(gpu, added -> new TreeSet<>()).add(holding.user());
            } else if (whole != null) {
                doubt(whole, doubtful); // its instance is unknown
            } else if (GPUS.matcher(holding.resource()).find()) {
                strangers.add(holding.device());
            }
        }
        if (strangers.isEmpty()) {
            return new Answer(users, doubtful, "");
        }
        // An unknown device may be any GPU without a known user, or an instance that was not seen.
        devices.values().stream().filter(gpu -> !users.containsKey(gpu)).forEach(doubtful::add);
        cut.values().forEach(gpu -> doubtful.add(gpu.gpuId()));
        long unknown = doubtful.size()
                - cut.values().stream()
                        .filter(gpu -> gpu.instances().stream().anyMatch(part -> doubtful.contains(part.gpuId())))
                        .count(); // a GPU's instances are counted instead of it
        return new Answer(
                users,
                doubtful,
                "pods have devices whose names are not UUIDs of GPUs or MIG devices (%s), so the users of %d GPUs are unknown"
                        .formatted(String.join(", ", strangers), unknown));
    }

    /** GPUs in MIG mode, by UUID. Pods have instances of them; these may not all have been seen. */
    private static Map<String, Gpu> cut(GpuSnapshot sight) {
        return sight.gpus().stream()
                .filter(Gpu::migEnabled)
                .collect(Collectors.toMap(gpu -> gpu.gpuId().value(), gpu -> gpu));
    }

    private static void doubt(Gpu gpu, Set<GpuId> doubtful) {
        doubtful.add(gpu.gpuId());
        gpu.instances().forEach(instance -> doubtful.add(instance.gpuId()));
    }

    /** The devices that pods may have, by UUID: whole GPUs, and for GPUs in MIG mode their instances. */
    private static Map<String, GpuId> devices(GpuSnapshot sight) {
        var devices = new HashMap<String, GpuId>();
        for (Gpu gpu : sight.gpus()) {
            if (!gpu.migEnabled()) {
                devices.put(gpu.gpuId().value(), gpu.gpuId());
            }
            for (GpuInstance instance : gpu.instances()) {
                devices.put(instance.uuid().orElse(instance.gpuId().value()), instance.gpuId());
            }
        }
        return devices;
    }

    /** A GPU shared by several pods has a replica for each: {@code GPU-...::3}. */
    private static String unshared(String device) {
        int replica = device.indexOf("::");
        return replica < 0 ? device : device.substring(0, replica);
    }

    @Override
    public void close() {
        asking.cancel(true);
        thread.shutdownNow();
        lister.close();
    }
}
