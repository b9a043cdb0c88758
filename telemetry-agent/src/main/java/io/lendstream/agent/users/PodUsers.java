package io.lendstream.agent.users;

import io.lendstream.agent.gpu.Sight;
import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/**
 * Pods, as the kubelet tells. It is asked every few seconds on a thread of its own, so that looking at GPUs does not wait for it;
 * once it does not answer, nothing is known until it does.
 */
public final class PodUsers implements UserSource {
    /** Pods come and go in seconds; the kubelet takes 100 such questions a second. */
    private static final Duration EVERY = Duration.ofSeconds(5);

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    /** What NVIDIA's device plugin and its driver for resource claims give out that is a GPU, or part of one. */
    private static final Pattern GPUS = Pattern.compile("^nvidia\\.com/(gpu|mig-)|(^|\\.)gpu\\.nvidia\\.com/");

    /** What was answered last. */
    private record Known(Optional<List<Holding>> holdings, String why) {}

    /** Asks for all devices that containers have. */
    interface Lister extends AutoCloseable {
        List<Holding> list() throws IOException, InterruptedException;

        @Override
        void close();
    }

    private final Lister lister;
    private final Duration deadline;
    private final AtomicReference<Known> known =
            new AtomicReference<>(new Known(Optional.empty(), "the kubelet has not answered yet"));
    private final CountDownLatch asked = new CountDownLatch(1);
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(body -> {
        var made = new Thread(body, "pods");
        made.setDaemon(true);
        return made;
    });
    private final ScheduledFuture<?> asking;

    /**
     * Those of a kubelet.
     *
     * @param socket its, usually {@code /var/lib/kubelet/pod-resources/kubelet.sock}
     */
    public static PodUsers of(Path socket) {
        return new PodUsers(new Kubelet(socket, DEADLINE), EVERY, DEADLINE);
    }

    PodUsers(Lister lister, Duration every, Duration deadline) {
        this.lister = lister;
        this.deadline = deadline;
        this.asking = thread.scheduleWithFixedDelay(this::ask, 0, every.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void ask() {
        try {
            known.set(new Known(Optional.of(lister.list()), ""));
        } catch (IOException | RuntimeException e) {
            known.set(new Known(
                    Optional.empty(),
                    "the kubelet does not tell which pods have GPUs: %s (agent.pod-resources)"
                            .formatted(e.getMessage())));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            asked.countDown();
        }
    }

    @Override
    public Answer of(Sight sight) {
        awaitFirst();
        Known now = known.get();
        return now.holdings()
                .map(holdings -> answer(sight, holdings))
                .orElseGet(() -> Answer.nothing(sight, now.why()));
    }

    /** The first look waits, as there is nothing yet; later ones take what is there. */
    private void awaitFirst() {
        try {
            asked.await(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Answer answer(Sight sight, List<Holding> holdings) {
        Map<String, GpuId> devices = devices(sight);
        var users = new HashMap<GpuId, Set<String>>();
        var strangers = new TreeSet<String>();
        for (Holding holding : holdings) {
            GpuId gpu = devices.get(unshared(holding.device()));
            if (gpu != null) {
                users.computeIfAbsent(gpu, added -> new TreeSet<>()).add(holding.user());
            } else if (GPUS.matcher(holding.resource()).find()) {
                strangers.add(holding.device());
            }
        }
        if (strangers.isEmpty()) {
            return new Answer(users, Set.of(), "");
        }
        var doubtful = new HashSet<>(devices.values()); // a stranger may be any of those that nobody seems to have
        doubtful.removeAll(users.keySet());
        return new Answer(
                users,
                doubtful,
                "pods have devices that are no GPU's or MIG device's uuid (%s), so who has %d GPUs is not known"
                        .formatted(String.join(", ", strangers), doubtful.size()));
    }

    /** By uuid, what pods may have: whole GPUs, and of those in MIG mode their instances. */
    private static Map<String, GpuId> devices(Sight sight) {
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

    /** Of a GPU that several share, each has a replica: {@code GPU-...::3}. */
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
