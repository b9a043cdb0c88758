package io.lendstream.actuator.adoption;

import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.host.ProcessName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Why a process cannot become a tenant. Checks change nothing. */
final class AdoptionRules {
    private final HostProcesses host;
    private final SignalCheck signals;
    private final long own;
    /** The last known selector of each tenant. */
    private final Map<Tenant, AdoptionSelector> selectors = new ConcurrentHashMap<>();

    /** @param own PID of this process */
    AdoptionRules(HostProcesses host, SignalCheck signals, long own) {
        this.host = host;
        this.signals = signals;
        this.own = own;
    }

    /** Learns selectors. Of a tenant without one nothing is checked: its declaration may not have been read yet. */
    void know(Map<Tenant, AdoptionSelector> declared) {
        selectors.putAll(declared);
    }

    /**
     * The reason; empty if it can.
     *
     * @param user the name of the process
     * @param adopted the processes that are tenants already
     */
    Optional<String> refusal(String user, Tenant tenant, List<GpuId> units, List<AdoptedTenant> adopted) {
        Optional<ProcessName> name = ProcessName.parse(user);
        if (name.isEmpty()) {
            return Optional.of("it is no process; names of processes read process/PID-START");
        }
        if (units.isEmpty()) {
            return Optional.of("it has no GPU");
        }
        return conflict(name.get(), tenant, units, adopted)
                .or(() -> ofProcess(name.get()))
                .or(() -> unclaimed(name.get(), tenant))
                .or(() -> signalRefusal(name.get()));
    }

    Optional<String> signalRefusal(ProcessName name) {
        return signals.refusal(name.pid());
    }

    private static Optional<String> conflict(
            ProcessName name, Tenant tenant, List<GpuId> units, List<AdoptedTenant> adopted) {
        for (AdoptedTenant other : adopted) {
            if (other.process().equals(name)) {
                return Optional.of("it is %s on %s already".formatted(other.tenant(), other.units()));
            }
            if (other.tenant().equals(tenant) && tenant.isJob()) {
                return Optional.of("%s has %s on this machine already, and a job has one process here"
                        .formatted(tenant, other.process()));
            }
            if (other.tenant().equals(tenant) && other.isOnAnyOf(units)) {
                return Optional.of("%s of %s is on %s already; a replica has one process"
                        .formatted(other.process(), tenant, other.units()));
            }
        }
        return Optional.empty();
    }

    private Optional<String> ofProcess(ProcessName name) {
        Optional<HostProcess> found = host.of(name.pid());
        if (found.isEmpty()) {
            return Optional.of("it has ended");
        }
        HostProcess process = found.get();
        if (!process.name().equals(name)) {
            return Optional.of("it has ended, and its PID is that of %s now".formatted(process.name()));
        }
        String user = host.user(process);
        if (ProcessName.parse(user).isEmpty()) {
            return Optional.of("Lendstream has started it as " + user);
        }
        if (!user.equals(name.toString())) {
            return Optional.of("agents report it as %s now".formatted(user));
        }
        boolean isFamily = host.of(own).stream()
                .flatMap(self -> Stream.concat(Stream.of(self), host.ancestors(self).stream()))
                .anyMatch(each -> each.pid() == name.pid());
        return isFamily ? Optional.of("the actuator runs in it") : Optional.empty();
    }

    /** A process may have become another program since it was found, or the selector may be another. */
    private Optional<String> unclaimed(ProcessName name, Tenant tenant) {
        return Optional.ofNullable(selectors.get(tenant))
                .filter(selector -> selector.againstProcesses().isEmpty())
                .filter(selector -> host.of(name.pid())
                        .filter(process -> new ProcessSelector(selector).claims(new ProcessFacts(process, host)))
                        .isEmpty())
                .map(selector -> "the selector of %s (%s) does not match it".formatted(tenant, selector.inWords()));
    }
}
