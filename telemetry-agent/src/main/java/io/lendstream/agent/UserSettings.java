package io.lendstream.agent;

import io.lendstream.agent.users.PodUsers;
import io.lendstream.agent.users.ProcessUsers;
import io.lendstream.agent.users.SlurmUsers;
import io.lendstream.agent.users.UserSource;
import io.lendstream.agent.users.Users;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The sources of GPU users that the settings and this machine allow. */
record UserSettings(Settings settings, Backend backend, HostProcesses host) {
    /** Checks the settings; throws if they are invalid. */
    void check() {
        boolean hasProcesses = backend == Backend.NVML;
        if (settings.get(AgentKeys.SLURM) && !hasProcesses) {
            throw withoutProcesses(AgentKeys.SLURM.name());
        }
        if (isOn() && !hasProcesses) {
            throw withoutProcesses(AgentKeys.PROCESSES.name());
        }
        if (isOn() && !host.isThere()) {
            throw new SettingsException(
                    "agent.processes is true, but this machine has no /proc, from which processes are read. Leave agent.processes out.");
        }
    }

    private boolean isOn() {
        return settings.get(AgentKeys.PROCESSES).orElse(false);
    }

    private SettingsException withoutProcesses(String key) {
        return new SettingsException(
                "%1$s is true, but agent.backend is %2$s, which does not report the processes of GPUs. Use the nvml backend, or leave %1$s out."
                        .formatted(key, backend));
    }

    /** Whether the probe has to read the processes of GPUs. */
    boolean needProcesses() {
        return settings.get(AgentKeys.SLURM) || namesProcesses();
    }

    private boolean namesProcesses() {
        return settings.get(AgentKeys.PROCESSES).orElseGet(() -> backend == Backend.NVML && host.hasPidsOfTheHost());
    }

    Users open() {
        List<UserSource> sources = new ArrayList<>();
        Set<ProcessUsers.Source> others = EnumSet.noneOf(ProcessUsers.Source.class);
        settings.get(AgentKeys.POD_RESOURCES).map(PodUsers::of).ifPresent(pods -> {
            sources.add(pods);
            others.add(ProcessUsers.Source.PODS);
        });
        if (settings.get(AgentKeys.SLURM)) {
            sources.add(new SlurmUsers(namesProcesses()));
            others.add(ProcessUsers.Source.SLURM);
        }
        return new Users(
                sources,
                namesProcesses()
                        ? Optional.of(new ProcessUsers(host, settings.get(AgentKeys.IGNORED_USERS), others))
                        : Optional.empty());
    }

    /** The sources, for the log, and why processes have no names. */
    String inWords() {
        List<String> named = new ArrayList<>();
        settings.get(AgentKeys.POD_RESOURCES).ifPresent(socket -> named.add("pods by " + socket));
        if (settings.get(AgentKeys.SLURM)) {
            named.add("Slurm jobs by control groups");
        }
        if (namesProcesses()) {
            named.add("processes by /proc");
        }
        if (backend == Backend.DCGM) {
            named.add("labels of the exporter");
        }
        String names = named.isEmpty() ? "users of GPUs are not named" : "users of GPUs: " + String.join(", ", named);
        boolean isElsewhere = settings.get(AgentKeys.PROCESSES).isEmpty()
                && backend == Backend.NVML
                && host.isThere()
                && !host.hasPidsOfTheHost();
        return isElsewhere
                ? names
                        + "; processes are not, because this agent is in a PID namespace of its own: run it on the host, or with hostPID"
                : names;
    }
}
