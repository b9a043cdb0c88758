package io.lendstream.actuator.adoption;

import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.host.ProcessName;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Finds the processes of this machine that selectors claim. A process counts for its root, whose name agents report. A
 * selector has to match the root too: a supervisor or a notebook server is no tenant because one of its children is.
 * Processes that Lendstream started, this process with its ancestors and descendants, and threads of the kernel are
 * never found.
 */
public final class ProcessScan {
    private static final List<String> WORKERS = List.of("WORLD_SIZE", "LOCAL_WORLD_SIZE");

    private final HostProcesses host;
    private final long own;

    /** @param own PID of this process */
    public ProcessScan(HostProcesses host, long own) {
        this.host = host;
        this.own = own;
    }

    /** Why a selector claims no process, with the way out; empty without a fault. */
    public static Optional<String> complaint(AdoptionSelector selector) {
        return selector.againstProcesses();
    }

    /**
     * All claimed processes, by PID. It does not wait for processes that end meanwhile.
     *
     * @param declared the selector of each tenant; one with a {@link #complaint} claims nothing
     */
    public List<FoundProcess> find(Map<Tenant, AdoptionSelector> declared) {
        Map<Tenant, ProcessSelector> selectors = new HashMap<>();
        declared.forEach((tenant, selector) -> {
            if (selector.againstProcesses().isEmpty()) {
                selectors.put(tenant, new ProcessSelector(selector));
            }
        });
        return selectors.isEmpty() ? List.of() : new Look(selectors).find();
    }

    /** One look at all processes. */
    private final class Look {
        private final HostProcesses now = host.atOnce();
        private final Map<Tenant, ProcessSelector> selectors;
        /** This process and its ancestors. */
        private final Set<Long> family = new HashSet<>(Set.of(own));

        private final Map<ProcessName, Claimed> roots = new TreeMap<>(Comparator.comparing(ProcessName::pid));

        Look(Map<Tenant, ProcessSelector> selectors) {
            this.selectors = selectors;
            now.of(own).ifPresent(self -> now.ancestors(self).forEach(each -> family.add(each.pid())));
        }

        List<FoundProcess> find() {
            List<HostProcess> all = now.all();
            for (HostProcess process : all) {
                Set<Tenant> claims = claims(new ProcessFacts(process, now));
                if (!claims.isEmpty()) {
                    take(process, claims);
                }
            }
            if (!roots.isEmpty()) {
                all.forEach(this::countWorkers);
            }
            return roots.entrySet().stream()
                    .filter(each -> each.getValue().isRootClaimed)
                    .map(each -> each.getValue().found(each.getKey().toString()))
                    .toList();
        }

        /** A thread of the kernel has no command line. */
        private Set<Tenant> claims(ProcessFacts facts) {
            if (facts.attribute(ProcessAttribute.COMMAND).isEmpty()) {
                return Set.of();
            }
            return selectors.entrySet().stream()
                    .filter(each -> each.getValue().claims(facts))
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toSet());
        }

        private void take(HostProcess process, Set<Tenant> claims) {
            Optional<HostProcess> root = ProcessName.parse(now.user(process)).flatMap(name -> now.of(name.pid()));
            boolean isOwn = family.contains(process.pid())
                    || root.filter(any -> family.contains(any.pid())).isPresent()
                    || now.ancestors(process).stream().anyMatch(each -> each.pid() == own);
            if (root.isPresent() && !isOwn) {
                roots.computeIfAbsent(root.get().name(), any -> new Claimed(root.get(), now))
                        .take(process, claims);
            }
        }

        /** A launcher alone may match, and only its workers, or programs that they start, say how many there are. */
        private void countWorkers(HostProcess process) {
            Optional.ofNullable(roots.get(process.name())).ifPresent(root -> root.countWorkers(process));
            for (HostProcess ancestor : now.ancestors(process)) {
                Optional.ofNullable(roots.get(ancestor.name())).ifPresent(root -> root.countWorkers(process));
            }
        }
    }

    /** What is known of a root. */
    private static final class Claimed {
        private final HostProcess root;
        private final HostProcesses host;
        private final Set<Tenant> by = new TreeSet<>(Comparator.comparing(Tenant::toString));
        /** The largest number that one of its processes says: a launcher may have the number of another job. */
        private Optional<Integer> workers = Optional.empty();

        private boolean isRootClaimed;

        Claimed(HostProcess root, HostProcesses host) {
            this.root = root;
            this.host = host;
        }

        void take(HostProcess process, Set<Tenant> claims) {
            by.addAll(claims);
            isRootClaimed |= process.name().equals(root.name());
        }

        FoundProcess found(String user) {
            return new FoundProcess(user, List.copyOf(by), workers, ShownProcess.of(host.arguments(root)));
        }

        void countWorkers(HostProcess process) {
            WORKERS.stream()
                    .flatMap(variable -> host.variable(process, variable).stream())
                    .filter(text -> text.matches("[1-9]\\d{0,4}"))
                    .map(Integer::valueOf)
                    .findFirst()
                    .filter(said -> workers.filter(known -> known >= said).isEmpty())
                    .ifPresent(said -> workers = Optional.of(said));
        }
    }
}
