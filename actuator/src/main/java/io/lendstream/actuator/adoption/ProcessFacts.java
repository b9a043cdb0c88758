package io.lendstream.actuator.adoption;

import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The attributes of a process, each read once, however many selectors ask for it. */
final class ProcessFacts {
    private final HostProcess process;
    private final HostProcesses host;
    private final Map<ProcessAttribute, Optional<String>> attributes = new EnumMap<>(ProcessAttribute.class);
    private final Map<String, Optional<String>> variables = new HashMap<>();

    ProcessFacts(HostProcess process, HostProcesses host) {
        this.process = process;
        this.host = host;
    }

    /** Empty if the process has none, or if this user may not read it. */
    Optional<String> attribute(ProcessAttribute attribute) {
        return attributes.computeIfAbsent(attribute, any -> attribute.of(process, host));
    }

    /** A variable of its environment; empty as above. */
    Optional<String> variable(String name) {
        return variables.computeIfAbsent(name, any -> host.variable(process, name));
    }
}
