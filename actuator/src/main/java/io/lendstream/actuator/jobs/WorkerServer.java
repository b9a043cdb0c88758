package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts workers' connections on a Unix socket. Each connection is read on a thread of its own. */
final class WorkerServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerServer.class);
    private static final int LONGEST_PATH_BYTES = 107; // sockaddr_un, unix(7)

    private final ServerSocketChannel server;
    private final Path path;
    private final Ears ears;

    /** Receives workers' messages, on many threads. */
    interface Ears {
        void heard(Connection from, Frames.Frame frame);

        void closed(Connection connection);
    }

    /** The connection of a worker. */
    static final class Connection {
        private final SocketChannel channel;

        private Connection(SocketChannel channel) {
            this.channel = channel;
        }

        /** Sends a message; a failure is ignored, because a worker's end is detected elsewhere. */
        synchronized void send(ObjectNode message, byte[] body) {
            try {
                Frames.write(channel, message, body);
            } catch (IOException e) {
                LOG.debug("cannot send {} to a worker: {}", message.path("type").asText(), e.getMessage());
            }
        }

        void close() {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.debug("cannot close a connection", e);
            }
        }
    }

    WorkerServer(Path path, Ears ears) {
        this.path = path;
        this.ears = ears;
        complaint(path).ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
        try {
            Files.deleteIfExists(path);
            server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            server.bind(UnixDomainSocketAddress.of(path));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen at " + path, e);
        }
        daemon("jobs-accept", this::accept);
    }

    /** Why no socket can be created there, with the way out; empty without a problem. */
    static Optional<String> complaint(Path path) {
        int bytes = path.toString().getBytes(StandardCharsets.UTF_8).length;
        return bytes <= LONGEST_PATH_BYTES
                ? Optional.empty()
                : Optional.of(
                        "the workers' socket would be %s, a path of %d bytes, but the limit is %d. Use a shorter state directory"
                                .formatted(path, bytes, LONGEST_PATH_BYTES));
    }

    private void accept() {
        try {
            while (true) {
                var connection = new Connection(server.accept());
                daemon("jobs-worker", () -> read(connection));
            }
        } catch (ClosedChannelException e) {
            LOG.debug("no longer accepting workers at {}", path);
        } catch (IOException e) {
            LOG.error("workers can no longer connect to {}", path, e);
        }
    }

    private void read(Connection connection) {
        try {
            while (true) {
                ears.heard(connection, Frames.read(connection.channel));
            }
        } catch (IOException e) {
            LOG.debug("a connection ended: {}", e.getMessage());
        } finally {
            connection.close();
            ears.closed(connection);
        }
    }

    private static void daemon(String name, Runnable body) {
        var thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            server.close();
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.warn("cannot close the workers' socket", e);
        }
    }
}
