package io.lendstream.stack;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/** Ports on the loopback address. */
public final class Ports {

    // Below the ephemeral ports of operating systems, so that no outgoing connection takes one.
    private static final int LOWEST = 20_000;
    private static final int HIGHEST = 32_000;
    private static final int ATTEMPTS = 1_000;
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private Ports() {}

    /** A free port that this process has not handed out before: an earlier user may not listen on its port yet. */
    public static int free() {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            if (!GIVEN.contains(port) && isFree(port) && GIVEN.add(port)) {
                return port;
            }
        }
        throw new StackException("No free port between %d and %d found; name one with an option, see --help."
                .formatted(LOWEST, HIGHEST));
    }

    static boolean isFree(int port) {
        try (var socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The requested port, or any free port for 0. */
    static int resolve(String name, int wanted) {
        if (wanted == 0) {
            return free();
        }
        if (wanted < 0 || wanted > 65_535) {
            throw new StackException(
                    "%s is %d, but must be between 0 (any free one) and 65535.".formatted(name, wanted));
        }
        if (!isFree(wanted)) {
            throw new StackException(
                    "%s is %d, but another process listens on 127.0.0.1:%d already; stop it, or choose another port (0: any free one)."
                            .formatted(name, wanted, wanted));
        }
        return wanted;
    }
}
