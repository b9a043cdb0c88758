package io.lendstream.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this machine calls itself. */
final class HostName {
    private static final Path LINUX = Path.of("/proc/sys/kernel/hostname");

    private HostName() {}

    /** A name that was given, or the machine's where it is blank. No name server is asked where the system tells. */
    static String or(String given) {
        if (!given.isBlank()) {
            return given.strip();
        }
        try {
            String name = Files.isReadable(LINUX) ? Files.readString(LINUX).strip() : "";
            return name.isEmpty() ? InetAddress.getLocalHost().getHostName() : name;
        } catch (IOException e) {
            return "localhost";
        }
    }
}
