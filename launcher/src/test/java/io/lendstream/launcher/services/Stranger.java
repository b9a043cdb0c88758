package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A process that uses GPUs and that Lendstream did not start.
 *
 * @param starter the process that this test started, which ends with it
 * @param handle the process itself
 * @param owner the owner that its GPUs get, as {@code top} words it
 */
record Stranger(List<GpuId> gpus, Process starter, ProcessHandle handle, String owner) {
    /** A launcher. Its worker reads what never comes, and ends with the test, which has the other end. */
    private static final String LAUNCHER = """
            exec 3<&0
            LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 RANK=$4 WORLD_SIZE=$2 /proc/$$/exe -c 'read end <&3' &
            trap "kill $!" TERM
            wait # until SIGTERM
            wait
            """;

    Stranger {
        gpus = List.copyOf(gpus);
    }

    /** Starts one whose GPUs get an owner. */
    static Stranger started(Host host, String role, List<GpuId> gpus, String owner) throws IOException {
        return of(host, gpus, SharedMachine.started(role, gpus, host), owner);
    }

    /**
     * Starts a part of a job on several hosts as torchrun does: a launcher starts a worker, which says how many there are
     * on all hosts. It passes SIGTERM on to it.
     *
     * @param program what {@link #launcher} made
     * @param rank of the host, from 0
     */
    static Stranger launched(Host host, Path program, int hosts, int rank, GpuId gpu, String owner) throws IOException {
        List<String> command = List.of(
                program.toString(),
                program.resolveSibling("train.py").toString(),
                "--nnodes",
                Integer.toString(hosts),
                "--node-rank",
                Integer.toString(rank));
        Stranger launcher = of(host, List.of(gpu), SharedMachine.started(command, Map.of(), List.of(gpu), host), owner);
        await().atMost(Deployment.PATIENCE).until(() -> launcher.workers().size() == 1);
        return launcher;
    }

    /**
     * Makes the program of launchers, and the script that it runs. It is a copy of the shell: a root is of the same program
     * as its descendants, and shells of this machine are ancestors of the test.
     */
    static Path launcher(Path directory) throws IOException {
        Files.writeString(directory.resolve("train.py"), LAUNCHER);
        return Files.copy(Path.of("/bin/sh").toRealPath(), directory.resolve("torchrun"), COPY_ATTRIBUTES);
    }

    private static Stranger of(Host host, List<GpuId> gpus, Process starter, String owner) {
        if (host.isThisMachine()) {
            return new Stranger(gpus, starter, starter.toHandle(), owner);
        }
        await().atMost(Deployment.PATIENCE)
                .until(() -> starter.children().findAny().isPresent());
        return new Stranger(gpus, starter, starter.children().findAny().orElseThrow(), owner);
    }

    /** Starts one that no selector matches, so that its GPUs stay foreign. */
    static Stranger unknown(Host host, List<GpuId> gpus) throws IOException {
        return started(host, "it-unknown", gpus, "");
    }

    /** The processes that it has started itself. */
    List<ProcessHandle> workers() {
        return handle.children().toList();
    }

    boolean isUnknown() {
        return owner.isEmpty();
    }

    boolean isAlive() {
        return handle.isAlive();
    }

    /** The owner of its GPUs before and after it was taken over, as {@code top} words it; the start of it. */
    String owner(boolean isTakenOver) {
        return isUnknown() || !isTakenOver ? "foreign: used by process/%d-".formatted(pidOnHost()) : owner;
    }

    /** Its number on its host. */
    private long pidOnHost() {
        try (Stream<String> lines = Files.lines(file(handle, "status"))) {
            String all =
                    lines.filter(line -> line.startsWith("NSpid:")).findFirst().orElseThrow();
            return Long.parseLong(all.substring(all.lastIndexOf('\t') + 1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether a process is visibly given one of these GPUs. */
    static boolean uses(ProcessHandle process, List<GpuId> gpus) {
        return variables(process)
                .filter(variable -> variable.startsWith("CUDA_VISIBLE_DEVICES="))
                .anyMatch(variable -> gpus.stream().anyMatch(gpu -> variable.contains(gpu.value())));
    }

    /** Whether a process is the worker of a job that Lendstream started, as the programs of {@link AdoptedCluster} are. */
    static boolean isWorkerOf(ProcessHandle process, String job) {
        return variables(process).anyMatch(("LENDSTREAM_JOB=" + job)::equals)
                && text(process, "cmdline").replace('\0', ' ').startsWith("sleep 600");
    }

    private static Stream<String> variables(ProcessHandle process) {
        return Stream.of(text(process, "environ").split("\0"));
    }

    /** A file about a process; nothing if the process has ended. */
    private static String text(ProcessHandle process, String name) {
        try {
            return new String(Files.readAllBytes(file(process, name)), UTF_8);
        } catch (IOException e) {
            return "";
        }
    }

    private static Path file(ProcessHandle process, String name) {
        return Path.of("/proc", Long.toString(process.pid()), name);
    }
}
