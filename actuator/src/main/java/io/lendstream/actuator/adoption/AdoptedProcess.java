package io.lendstream.actuator.adoption;

import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.host.ProcessName;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A process that something else has started, with its descendants. Each is identified by PID and start, so a reused PID
 * is never signalled. A descendant that lost its parent before {@link #look} saw it is not known.
 */
final class AdoptedProcess {
    private final ProcessName root;
    private final HostProcesses host;
    /** The descendants seen so far that may still run. */
    private final Set<ProcessName> others = new LinkedHashSet<>();

    AdoptedProcess(ProcessName root, HostProcesses host) {
        this.root = root;
        this.host = host;
    }

    ProcessName name() {
        return root;
    }

    /** Whether the root itself runs. */
    boolean isRunning() {
        return isRunning(root);
    }

    /** Notes the descendants, so that they are known when their parents have ended. */
    void look() {
        others.removeIf(each -> !isRunning(each));
        for (ProcessName parent : all()) {
            handle(parent).stream()
                    .flatMap(ProcessHandle::descendants)
                    .flatMap(child -> host.of(child.pid()).stream())
                    .filter(child -> isBelow(child, parent)) // its PID may have come again since it was listed
                    .map(HostProcess::name)
                    .forEach(others::add);
        }
    }

    private boolean isBelow(HostProcess child, ProcessName parent) {
        return host.ancestors(child).stream().anyMatch(each -> each.name().equals(parent));
    }

    /** Whether neither the root nor a known descendant runs. */
    boolean isGone() {
        others.removeIf(each -> !isRunning(each));
        return others.isEmpty() && !isRunning(root);
    }

    /** Sends SIGTERM to the root, which ends its children or leaves that to {@link #kill}. */
    boolean terminate() {
        look();
        return signal(root, ProcessHandle::destroy);
    }

    /** Sends SIGKILL to all of them: to the root first, which could start others. */
    void kill() {
        look();
        List<ProcessName> all = all();
        all.forEach(each -> signal(each, ProcessHandle::destroyForcibly));
        look();
    }

    private List<ProcessName> all() {
        Set<ProcessName> all = new LinkedHashSet<>(Set.of(root));
        all.addAll(others);
        return List.copyOf(all);
    }

    private boolean signal(ProcessName process, Predicate<ProcessHandle> sent) {
        return handle(process).filter(sent).isPresent();
    }

    private Optional<ProcessHandle> handle(ProcessName process) {
        return ProcessHandle.of(process.pid()).filter(any -> isRunning(process));
    }

    private boolean isRunning(ProcessName process) {
        return host.of(process.pid())
                .filter(now -> now.startTicks() == process.startTicks())
                .isPresent();
    }
}
