package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts and stops replicas of services on this node, one process tree on the GPUs of each. Calls return at once;
 * results go to the listener. Tenants are saved on disk before they run: a host on the directory of a killed one takes
 * its replicas over. Closing a host leaves them running.
 */
public final class ReplicaHost implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaHost.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long LOOK_MILLIS = 50;
    /** A shell's exit code for a program that it cannot run. */
    private static final int CANNOT_RUN = 127;

    private static final CompletableFuture<Boolean> NO = CompletableFuture.completedFuture(false);

    private final Path directory;
    private final CleanEnvironment environment;
    private final ReplicaListener listener;
    private final ErrorLog errors = new ErrorLog(LOG);
    private boolean unsaved;
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();
    private final Map<String, Replica> replicas = new TreeMap<>();
    private final ScheduledExecutorService events = Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "replicas");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * The saved state of a replica.
     *
     * @param gpu its first GPU
     * @param others its other GPUs; absent if it has none, as in files of earlier versions
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Kept(
            String service,
            String gpu,
            String name,
            String ready,
            @Nullable List<String> others) {
        private List<GpuId> gpus() {
            List<GpuId> gpus = new ArrayList<>(List.of(new GpuId(gpu)));
            if (others != null) {
                others.forEach(other -> gpus.add(new GpuId(other)));
            }
            return List.copyOf(gpus);
        }
    }

    private static final class Replica {
        final Kept kept;
        final WorkerProcess process;
        boolean ready;
        boolean asked;
        boolean killed;
        CompletableFuture<Boolean> question = NO;

        Replica(Kept kept, WorkerProcess process) {
            this.kept = kept;
            this.process = process;
        }
    }

    /** A replica that runs, starts or stops. */
    public record Running(ServiceId service, List<GpuId> gpus, boolean ready) {
        public Running {
            gpus = List.copyOf(gpus);
        }
    }

    private ReplicaHost(Path directory, CleanEnvironment environment, ReplicaListener listener) {
        this.directory = directory;
        this.environment = environment;
        this.listener = listener;
        for (Kept kept : load()) {
            replicas.put(
                    key(kept.service, kept.gpu), new Replica(kept, WorkerProcess.adopt(kept.name, home(kept.name))));
        }
        var unused = events.scheduleWithFixedDelay(this::look, 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Opens a host on a directory, and takes over its tenants.
     *
     * @param environment environment that replicas inherit
     * @throws UncheckedIOException if the directory cannot be used
     */
    public static ReplicaHost open(Path directory, CleanEnvironment environment, ReplicaListener listener) {
        try {
            PrivateFiles.directory(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot use %s for replicas".formatted(directory), e);
        }
        return new ReplicaHost(directory.toAbsolutePath(), environment, listener);
    }

    /**
     * Starts a replica, or reports again that it is ready.
     *
     * @param slots its GPUs; at least one
     * @param index value for {@code {index}} in the program; unique on the node
     */
    public void start(ServiceId service, ReplicaProgram program, List<Slot> slots, int index) {
        List<String> gpus = slots.stream().map(slot -> slot.gpu().value()).toList();
        events.execute(() -> {
            Replica there = replicas.get(key(service.value(), gpus.get(0)));
            if (there != null) {
                there.ready = false;
                return;
            }
            String number = Integer.toString(index);
            List<String> command = program.command().stream()
                    .map(part -> part.replace("{index}", number))
                    .toList();
            Map<String, String> own = new HashMap<>(program.environment());
            own.put("CUDA_VISIBLE_DEVICES", slots.stream().map(Slot::device).collect(Collectors.joining(",")));
            own.put("LENDSTREAM_GPU_INDEX", number);
            String name = UUID.randomUUID().toString();
            String ready =
                    program.ready().map(url -> url.replace("{index}", number)).orElse("");
            Kept kept = new Kept(service.value(), gpus.get(0), name, ready, others(gpus));
            try {
                write(Optional.of(kept));
                WorkerProcess process =
                        WorkerProcess.start(name, home(name), command, environment, own, Path.of(program.directory()));
                replicas.put(key(kept.service, kept.gpu), new Replica(kept, process));
            } catch (UncheckedIOException | IllegalArgumentException e) {
                save();
                LOG.warn("cannot start a replica of {} on {}", service, gpus, e);
                Throwable cause = e instanceof UncheckedIOException && e.getCause() != null ? e.getCause() : e;
                String why = String.valueOf(cause.getMessage());
                listener.gone(
                        service,
                        kept.gpus(),
                        false,
                        CANNOT_RUN,
                        List.of(why),
                        e instanceof IllegalArgumentException || cause instanceof ProgramMissingException);
            }
        });
    }

    /** Sends SIGTERM or SIGKILL to the replica on a GPU; a missing replica is reported as released. */
    public void stop(ServiceId service, GpuId gpu, boolean kill) {
        events.execute(() -> {
            Optional<Replica> running = running(service, gpu);
            if (running.isEmpty()) {
                listener.gone(service, List.of(gpu), kill, 0, List.of(), false);
                return;
            }
            Replica there = running.get();
            if (kill) {
                there.killed = true;
                there.process.kill();
            } else if (!there.asked) {
                there.asked = true;
                there.process.terminate();
            }
        });
    }

    private static @Nullable List<String> others(List<String> gpus) {
        return gpus.size() < 2 ? null : List.copyOf(gpus.subList(1, gpus.size()));
    }

    /** The replica on a GPU, which may have other GPUs too. */
    private Optional<Replica> running(ServiceId service, GpuId gpu) {
        return Optional.ofNullable(replicas.get(key(service.value(), gpu.value())))
                .or(() -> replicas.values().stream()
                        .filter(each -> each.kept.service.equals(service.value())
                                && each.kept.gpus().contains(gpu))
                        .findFirst());
    }

    /** What runs now. */
    public List<Running> running() {
        try {
            return events.submit(() -> replicas.values().stream()
                            .map(each -> new Running(new ServiceId(each.kept.service), each.kept.gpus(), each.ready))
                            .toList())
                    .get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of();
        } catch (java.util.concurrent.ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private void look() {
        if (unsaved) {
            save();
        }
        for (Replica each : List.copyOf(replicas.values())) {
            try {
                look(each);
            } catch (RuntimeException e) {
                errors.error(
                        "checking a replica of %s on %s failed; other replicas are not affected"
                                .formatted(each.kept.service, each.kept.gpu),
                        e);
            }
        }
    }

    private void look(Replica each) {
        ServiceId service = new ServiceId(each.kept.service);
        List<GpuId> gpus = each.kept.gpus();
        if (each.process.isGone()) {
            replicas.remove(key(each.kept.service, each.kept.gpu));
            save();
            int code = each.process.exitCode();
            listener.gone(
                    service,
                    gpus,
                    each.killed,
                    code,
                    each.asked ? List.of() : each.process.lastLines(),
                    !each.asked && !each.killed && ProgramCheck.isNotRun(code));
        } else if (!each.ready && !each.asked && answers(each)) {
            each.ready = true;
            listener.ready(service, gpus);
        }
    }

    /** Whether the last readiness request returned 200; sends another one if not. Does not wait. */
    private boolean answers(Replica each) {
        if (each.kept.ready.isEmpty()) {
            return true;
        }
        if (!each.question.isDone()) {
            return false;
        }
        if (each.question.join()) {
            each.question = NO;
            return true;
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(each.kept.ready))
                .timeout(Duration.ofSeconds(1))
                .build();
        each.question = client.sendAsync(request, HttpResponse.BodyHandlers.discarding())
                .handle((answer, failure) -> failure == null && answer.statusCode() == 200);
        return false;
    }

    private static String key(String service, String gpu) {
        return service + "\0" + gpu;
    }

    private Path home(String name) {
        return directory.resolve(name);
    }

    private Path file() {
        return directory.resolve("replicas.json");
    }

    private List<Kept> load() {
        if (!Files.exists(file())) {
            return List.of();
        }
        try {
            return JSON.readValue(file().toFile(), new TypeReference<List<Kept>>() {});
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot read %s, which lists the replicas of this node".formatted(file()), e);
        }
    }

    /** Saves the replicas; after a failure, as on a full disk, it is retried at the next check. */
    private void save() {
        try {
            write(Optional.empty());
            unsaved = false;
        } catch (UncheckedIOException e) {
            unsaved = true;
            errors.error("cannot save the list of replicas; will retry", e);
        }
    }

    private void write(Optional<Kept> more) {
        List<Kept> all = new ArrayList<>(
                replicas.values().stream().map(each -> each.kept).toList());
        more.ifPresent(all::add);
        try {
            Path fresh = directory.resolve("replicas.json.new");
            PrivateFiles.empty(fresh);
            JSON.writeValue(fresh.toFile(), all);
            Files.move(fresh, file(), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file(), e);
        }
    }

    /** Releases the directory; replicas continue to run. */
    @Override
    public void close() {
        events.shutdownNow();
        try {
            events.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
