package io.lendstream.actuator.adoption;

import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.host.ProcessName;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds the processes of this machine that selectors claim. A process counts for its root, whose name agents report.
 * Processes that Lendstream started, this process with its ancestors and descendants, and threads of the kernel are
 * never found.
 */
public final class ProcessScan {
    private static final List<String> WORKERS = List.of("WORLD_SIZE", "LOCAL_WORLD_SIZE");
    private static final int MOST_WORKERS = 100_000;

    private final HostProcesses host;
    private final long own;

    /** @param own PID of this process */
    public ProcessScan(HostProcesses host, long own) {
        this.host = host;
        this.own = own;
    }

    /** Why a selector claims no process, with the way out; empty without a fault. */
    public static Optional<String> complaint(Map<String, String> patterns) {
        return ProcessSelector.complaint(patterns);
    }

    /**
     * All claimed processes, by PID. It does not wait for processes that end meanwhile.
     *
     * @param patterns for each tenant its patterns by attribute; a selector with a {@link #complaint} claims nothing
     */
    public List<FoundProcess> find(Map<Tenant, Map<String, String>> patterns) {
        Map<Tenant, ProcessSelector> selectors = new HashMap<>();
        patterns.forEach((tenant, each) -> {
            if (ProcessSelector.complaint(each).isEmpty()) {
                selectors.put(tenant, new ProcessSelector(each));
            }
        });
        if (selectors.isEmpty()) {
            return List.of();
        }
        Map<ProcessName, Claimed> roots = new TreeMap<>(Comparator.comparing(ProcessName::pid));
        Set<Long> family = family();
        for (HostProcess process : host.all()) {
            List<Tenant> claims = claims(new ProcessFacts(process, host), selectors);
            if (!claims.isEmpty() && !family.contains(process.pid())) {
                take(process, claims, family, roots);
            }
        }
        return roots.entrySet().stream()
                .map(each -> each.getValue().found(each.getKey()))
                .toList();
    }

    /** A thread of the kernel has no command line. */
    private static List<Tenant> claims(ProcessFacts facts, Map<Tenant, ProcessSelector> selectors) {
        if (facts.attribute(ProcessAttribute.COMMAND).isEmpty()) {
            return List.of();
        }
        return selectors.entrySet().stream()
                .filter(each -> each.getValue().claims(facts))
                .map(Map.Entry::getKey)
                .toList();
    }

    private void take(
            HostProcess process, List<Tenant> claims, Set<Long> family, Map<ProcessName, Claimed> roots) {
        Optional<ProcessName> name = ProcessName.parse(host.user(process));
        Optional<HostProcess> root = name.flatMap(this::running);
        if (root.isEmpty() || family.contains(root.get().pid()) || isOfThis(process)) {
            return;
        }
        roots.computeIfAbsent(root.get().name(), any -> new Claimed(root.get())).take(process, claims);
    }

    private Optional<HostProcess> running(ProcessName name) {
        return host.of(name.pid()).filter(process -> process.name().equals(name));
    }

    /** This process and its ancestors. */
    private Set<Long> family() {
        Set<Long> family = new HashSet<>(Set.of(own));
        host.of(own).ifPresent(self -> host.ancestors(self).forEach(each -> family.add(each.pid())));
        return family;
    }

    private boolean isOfThis(HostProcess process) {
        return host.ancestors(process).stream().anyMatch(each -> each.pid() == own);
    }

    /** What is known of a root. */
    private final class Claimed {
        private final HostProcess root;
        private final Set<Tenant> by = new TreeSet<>(Comparator.comparing(Tenant::toString));
        private final List<HostProcess> processes = new ArrayList<>();

        Claimed(HostProcess root) {
            this.root = root;
            processes.add(root);
        }

        void take(HostProcess process, List<Tenant> claims) {
            by.addAll(claims);
            processes.add(process);
        }

        FoundProcess found(ProcessName name) {
            Optional<Integer> workers = processes.stream()
                    .flatMap(process -> workers(process).stream())
                    .findFirst();
            return new FoundProcess(
                    name.toString(), List.copyOf(by), workers, ShownProcess.of(host.arguments(root)));
        }

        private Optional<Integer> workers(HostProcess process) {
            return WORKERS.stream()
                    .flatMap(variable -> host.variable(process, variable).stream())
                    .filter(text -> text.matches("[1-9]\\d{0,5}"))
                    .map(Integer::valueOf)
                    .filter(number -> number <= MOST_WORKERS)
                    .findFirst();
        }
    }
}
