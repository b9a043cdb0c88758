package io.lendstream.launcher.services;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Passes connections on, from ports of a {@link Host} to the same ports of this machine, through sockets in a folder that
 * both see. So a service on a host reaches the broker at the address that the broker names.
 */
final class Relay implements AutoCloseable {
    private final List<ServerSocketChannel> outside = new ArrayList<>();
    private final Process inside;

    /** Listens at a socket for each port here, and at the ports on the host. */
    Relay(Host host, List<Integer> ports, Path directory) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Relay.class.getName()));
        for (int port : ports) {
            Path socket = directory.resolve("%s-%d.sock".formatted(host.name(), port));
            ServerSocketChannel server =
                    ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
            outside.add(server);
            InetSocketAddress to = at(port);
            pass(server, () -> SocketChannel.open(to));
            command.addAll(List.of(Integer.toString(port), socket.toString()));
        }
        Path log = directory.resolve(host.name() + "-relay.log");
        inside = new ProcessBuilder(host.inside(command))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        await().atMost(Deployment.PATIENCE).until(() -> Files.readString(log).contains("ready"));
    }

    /** Where connections go on. */
    private interface Next {
        SocketChannel open() throws IOException;
    }

    /** {@code PORT SOCKET PORT SOCKET ...}: listens at each port, and passes on to its socket. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        for (int i = 0; i < arguments.length; i += 2) {
            ServerSocketChannel server = ServerSocketChannel.open().bind(at(Integer.parseInt(arguments[i])));
            UnixDomainSocketAddress socket = UnixDomainSocketAddress.of(arguments[i + 1]);
            pass(server, () -> SocketChannel.open(socket));
        }
        System.out.println("ready");
        Thread.currentThread().join();
    }

    private static InetSocketAddress at(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private static void pass(ServerSocketChannel server, Next to) {
        inBackground(() -> {
            try {
                while (true) {
                    SocketChannel accepted = server.accept();
                    SocketChannel next = to.open();
                    pump(accepted, next);
                    pump(next, accepted);
                }
            } catch (ClosedChannelException e) {
                // The test is over.
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static void inBackground(Runnable task) {
        Thread thread = new Thread(task, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    private static void pump(SocketChannel from, SocketChannel to) {
        inBackground(() -> {
            ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
            try (from;
                    to) {
                while (from.read(buffer) >= 0) {
                    buffer.flip();
                    while (buffer.hasRemaining()) {
                        to.write(buffer);
                    }
                    buffer.clear();
                }
            } catch (IOException e) {
                // One side has gone; the other is closed with it.
            }
        });
    }

    @Override
    public void close() {
        inside.destroyForcibly();
        for (ServerSocketChannel server : outside) {
            try {
                server.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
