package io.lendstream.service.host;

import io.lendstream.core.event.Limits;
import io.lendstream.service.settings.SettingsException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The host name of this machine, which is the name of its node unless the settings name another. */
public final class HostName {
    private static final Path LINUX = Path.of("/proc/sys/kernel/hostname");

    private HostName() {}

    /**
     * The name of this node: the configured one, or the host name. Name servers are only asked if the system does not
     * know it.
     *
     * @param key the setting that names another node, for messages
     * @throws SettingsException if the host name is not a valid name
     */
    public static String or(Optional<String> given, String key) {
        return given.orElseGet(() -> checked(ofTheMachine(), key));
    }

    /** The host name, if it is a valid name. */
    static String checked(String machine, String key) {
        try {
            return Limits.name("a node's name", machine);
        } catch (IllegalArgumentException e) {
            throw new SettingsException(
                    "%1$s is not set, and this machine's host name cannot be used instead: %2$s, or set %1$s to another name."
                            .formatted(key, e.getMessage()),
                    e);
        }
    }

    /** The host name as the system has it, which need not be a valid name. */
    public static String ofTheMachine() {
        try {
            String name = Files.isReadable(LINUX) ? Files.readString(LINUX).strip() : "";
            return name.isEmpty() ? InetAddress.getLocalHost().getHostName() : name;
        } catch (IOException e) {
            return "localhost";
        }
    }
}
