package io.lendstream.service.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The processes of this host, from {@code /proc}. Processes end while they are read, and their PIDs are reused: a
 * reading is used only if the process started at the same time before and after it. Command lines are read for {@link
 * #arguments} only, which the agent does not call.
 *
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html">proc_pid_stat(5)</a>
 */
public final class HostProcesses {
    private static final Path PROC = Path.of("/proc");
    /** The PID namespace of the host; the number is fixed in Linux ({@code PROC_PID_INIT_INO}). */
    private static final String NAMESPACE_OF_THE_HOST = "pid:[4026531836]";

    private static final String DELETED = " (deleted)";
    private static final int STATE = 0;
    private static final int PARENT = 1;
    private static final int START = 19;
    /** Processes nest a few levels deep; the bound ends a walk that reused PIDs lead in a circle. */
    private static final int MOST_ANCESTORS = 200;

    private final Path proc;
    private final Optional<Look> look;

    /** What was read already. */
    private record Look(Map<Long, Optional<HostProcess>> processes, Map<HostProcess, Optional<String>> tenants) {}

    private record Stat(String command, long parent, long startTicks) {}

    public HostProcesses() {
        this(PROC);
    }

    /** @param proc where the processes' files are */
    public HostProcesses(Path proc) {
        this(proc, Optional.empty());
    }

    private HostProcesses(Path proc, Optional<Look> look) {
        this.proc = proc;
        this.look = look;
    }

    /** The same processes for a single look at many of them, in one thread: each is read once, also as an ancestor. */
    public HostProcesses atOnce() {
        return new HostProcesses(proc, Optional.of(new Look(new HashMap<>(), new HashMap<>())));
    }

    /** Whether this system has such files; macOS has none. */
    public boolean isThere() {
        return Files.isReadable(proc.resolve("self").resolve("stat"));
    }

    /**
     * Whether PIDs here are those of the host. In a container with PIDs of its own they are not, and a PID from a
     * driver may be that of another process.
     */
    public boolean hasPidsOfTheHost() {
        return link(proc.resolve("self").resolve("ns").resolve("pid"))
                .filter(NAMESPACE_OF_THE_HOST::equals)
                .isPresent();
    }

    /** The identity of this start of the system, after which PIDs come again; empty where the system has none. */
    public Optional<String> boot() {
        try {
            return Optional.of(
                    Files.readString(proc.resolve("sys/kernel/random/boot_id")).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** A running process; empty if it has ended, also if its parent has not noticed yet, or if it is hidden. */
    public Optional<HostProcess> of(long pid) {
        return look.map(Look::processes)
                .map(read -> read.computeIfAbsent(pid, this::read))
                .orElseGet(() -> read(pid));
    }

    private Optional<HostProcess> read(long pid) {
        Path directory = proc.resolve(Long.toString(pid));
        Optional<Stat> before = stat(directory);
        Optional<Long> owner = owner(directory);
        if (before.isEmpty() || owner.isEmpty()) {
            return Optional.empty();
        }
        var process = new HostProcess(
                pid,
                before.get().parent(),
                before.get().startTicks(),
                before.get().command(),
                link(directory.resolve("exe")).map(HostProcesses::withoutMark),
                owner.get());
        return isRunning(process) ? Optional.of(process) : Optional.empty();
    }

    /** All running processes, by PID. */
    public List<HostProcess> all() {
        return pids().stream().flatMap(pid -> of(pid).stream()).toList();
    }

    /** The PIDs of all processes, in order. */
    public List<Long> pids() {
        List<Long> pids = new ArrayList<>();
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(proc, "[0-9]*")) {
            directories.forEach(
                    each -> pids.add(Long.parseLong(each.getFileName().toString())));
        } catch (IOException | DirectoryIteratorException | NumberFormatException e) {
            return List.of();
        }
        return pids.stream().sorted().toList();
    }

    /**
     * The root of a process: its highest ancestor of the same program and owner, or itself. The workers of torchrun or
     * vLLM have one root.
     */
    public HostProcess root(HostProcess process) {
        HostProcess root = process;
        for (HostProcess ancestor : ancestors(process)) {
            if (ancestor.isLike(process)) {
                root = ancestor;
            }
        }
        return root;
    }

    /**
     * The process as a GPU's user. A tenant of the process driver has its {@link TenantName}, which the process or an
     * ancestor carries: a program may overwrite its own environment, for example to set a title. Another process, or
     * one whose environment is not readable, has the name of its {@link #root}.
     */
    public String user(HostProcess process) {
        return tenant(process)
                .or(() -> ancestors(process).stream()
                        .flatMap(ancestor -> tenant(ancestor).stream())
                        .findFirst())
                .orElseGet(() -> root(process).name().toString());
    }

    private Optional<String> tenant(HostProcess process) {
        return look.map(Look::tenants)
                .map(read -> read.computeIfAbsent(process, this::readTenant))
                .orElseGet(() -> readTenant(process));
    }

    private Optional<String> readTenant(HostProcess process) {
        return variable(process, TenantName.VARIABLE).flatMap(TenantName::checked);
    }

    /** A variable of the environment with which a process started; empty if this user may not read it. */
    public Optional<String> variable(HostProcess process, String name) {
        String start = name + "=";
        return text(process, "environ").stream()
                .flatMap(environment -> List.of(environment.split("\0", -1)).stream())
                .filter(variable -> variable.startsWith(start))
                .map(variable -> variable.substring(start.length()))
                .findFirst();
    }

    /** The control groups of a process, one a line; empty if it has ended. */
    public Optional<String> groups(HostProcess process) {
        return text(process, "cgroup");
    }

    /**
     * The program of a process and its arguments; empty if it has ended. A kernel thread has none. They may hold
     * secrets.
     */
    public List<String> arguments(HostProcess process) {
        String line = text(process, "cmdline")
                .map(raw -> new String(raw.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8))
                .orElse("");
        int end = line.length();
        while (end > 0 && line.charAt(end - 1) == 0) {
            end--; // the last argument ends so, and a program that sets a title leaves many
        }
        return end == 0 ? List.of() : List.of(line.substring(0, end).split("\0", -1));
    }

    /** The working directory of a process; empty if this user may not read it, or if it has ended. */
    public Optional<String> directory(HostProcess process) {
        return link(proc.resolve(Long.toString(process.pid())).resolve("cwd")).filter(any -> isRunning(process));
    }

    /**
     * The name of the user that runs a process. The number of the user stands for a name if there is none, or if the
     * system hides the process from others, as it does after a change of its user.
     */
    public String userName(HostProcess process) {
        String number = Long.toString(process.owner());
        try {
            Path directory = proc.resolve(Long.toString(process.pid()));
            long owner = Integer.toUnsignedLong((Integer) Files.getAttribute(directory, "unix:uid"));
            return owner == process.owner() ? Files.getOwner(directory).getName() : number;
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return number;
        }
    }

    /** The ancestors of a process, the nearest first. */
    public List<HostProcess> ancestors(HostProcess process) {
        List<HostProcess> ancestors = new ArrayList<>();
        HostProcess child = process;
        while (child.parent() > 0 && ancestors.size() < MOST_ANCESTORS) {
            Optional<HostProcess> parent = of(child.parent());
            if (parent.isEmpty() || parent.get().startTicks() > child.startTicks()) {
                break; // it has ended, and another process may have its PID
            }
            child = parent.get();
            ancestors.add(child);
        }
        return ancestors;
    }

    private Optional<String> text(HostProcess process, String file) {
        try {
            String text = Files.readString(
                    proc.resolve(Long.toString(process.pid())).resolve(file), StandardCharsets.ISO_8859_1);
            return isRunning(process) ? Optional.of(text) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private boolean isRunning(HostProcess process) {
        return stat(proc.resolve(Long.toString(process.pid())))
                .filter(now -> now.startTicks() == process.startTicks())
                .isPresent();
    }

    /** Empty for a dead process, which holds only a number. */
    private static Optional<Stat> stat(Path directory) {
        String stat;
        try {
            stat = Files.readString(directory.resolve("stat"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return Optional.empty();
        }
        int open = stat.indexOf('(');
        int close = stat.lastIndexOf(')'); // a name may have brackets
        if (open < 0 || close < open) {
            return Optional.empty();
        }
        String[] fields = stat.substring(close + 1).strip().split(" ", -1);
        if (fields.length <= START || fields[STATE].equals("Z") || fields[STATE].equals("X")) {
            return Optional.empty();
        }
        return Optional.of(new Stat(
                stat.substring(open + 1, close), Long.parseLong(fields[PARENT]), Long.parseLong(fields[START])));
    }

    private static Optional<Long> owner(Path directory) {
        try {
            return Files.readString(directory.resolve("status"), StandardCharsets.ISO_8859_1)
                    .lines()
                    .filter(line -> line.startsWith("Uid:"))
                    .map(line -> Long.parseLong(
                            line.substring("Uid:".length()).strip().split("\\s", -1)[0]))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** A program that an update has replaced is marked so. */
    private static String withoutMark(String executable) {
        return executable.endsWith(DELETED)
                ? executable.substring(0, executable.length() - DELETED.length())
                : executable;
    }

    private static Optional<String> link(Path link) {
        try {
            return Optional.of(Files.readSymbolicLink(link).toString());
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }
}
