package io.lendstream.actuator.adoption;

import io.lendstream.service.host.HostProcess;
import io.lendstream.service.host.HostProcesses;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** An attribute of a process that a selector can name. */
enum ProcessAttribute {
    /** The whole command line: program and arguments, joined by a blank. */
    COMMAND("command") {
        @Override
        Optional<String> of(HostProcess process, HostProcesses host) {
            List<String> arguments = host.arguments(process);
            return arguments.isEmpty() ? Optional.empty() : Optional.of(String.join(" ", arguments));
        }
    },
    /** The name of the user that runs it; the user's number if the system knows no name. */
    USER("user") {
        @Override
        Optional<String> of(HostProcess process, HostProcesses host) {
            return Optional.of(host.userName(process));
        }
    },
    /** The systemd unit in which it runs: a service, or the scope of a login or a container. */
    UNIT("unit") {
        @Override
        Optional<String> of(HostProcess process, HostProcesses host) {
            return host.groups(process).flatMap(ProcessAttribute::unit);
        }
    },
    /** The working directory. */
    DIRECTORY("directory") {
        @Override
        Optional<String> of(HostProcess process, HostProcesses host) {
            return host.directory(process);
        }
    };

    private final String word;

    ProcessAttribute(String word) {
        this.word = word;
    }

    /** Its value; empty if the process has none, or if this user may not read it. */
    abstract Optional<String> of(HostProcess process, HostProcesses host);

    /** Its name in selectors. */
    String word() {
        return word;
    }

    static Optional<ProcessAttribute> named(String word) {
        return Arrays.stream(values()).filter(each -> each.word.equals(word)).findFirst();
    }

    /**
     * The last service or scope in the path of a control group, such as {@code train.service} of {@code
     * 0::/system.slice/train.service}. With version 1 of control groups only systemd's own hierarchy has units.
     */
    private static Optional<String> unit(String groups) {
        return groups.lines()
                .filter(line -> line.startsWith("0::") || line.contains(":name=systemd:"))
                .flatMap(line ->
                        Arrays.stream(line.substring(line.lastIndexOf(':') + 1).split("/", -1)))
                .filter(part -> part.endsWith(".service") || part.endsWith(".scope"))
                .reduce((earlier, later) -> later);
    }
}
