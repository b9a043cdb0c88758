package io.lendstream.actuator.adoption;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.host.ProcessName;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Why a process cannot become a tenant. Checks change nothing. */
final class AdoptionRules {
    private final HostProcesses host;
    private final SignalCheck signals;
    private final long own;

    /** @param own PID of this process */
    AdoptionRules(HostProcesses host, SignalCheck signals, long own) {
        this.host = host;
        this.signals = signals;
        this.own = own;
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
                .or(() -> signals.refusal(name.get().pid()));
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
}
