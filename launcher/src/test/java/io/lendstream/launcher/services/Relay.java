package io.lendstream.launcher.services;

import static org.awaitility.Awaitility.await;

import io.lendstream.launcher.services.Deployment.Running;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Passes connections on, from a port of one network to the same port of another, through a socket in a folder that both
 * see. So a service on a {@link Host} reaches the broker at the address that the broker names.
 */
final class Relay {
    private Relay() {}

    /** One relay on a host, and one that goes on from there. */
    static List<Running> started(Host host, int port, Path directory) throws IOException {
        Path socket = directory.resolve("%s-%d.sock".formatted(host.name(), port));
        List<Running> both = new ArrayList<>();
        both.add(start(command("out", socket, port), socket.resolveSibling(socket.getFileName() + ".out.log")));
        await().atMost(Deployment.PATIENCE).until(() -> Files.exists(socket));
        both.add(start(
                host.inside(command("in", socket, port)), socket.resolveSibling(socket.getFileName() + ".in.log")));
        await().atMost(Deployment.PATIENCE).until(() -> both.get(1).printed().contains("ready"));
        return both;
    }

    private static Running start(List<String> command, Path log) throws IOException {
        return new Running(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start(),
                log);
    }

    private static List<String> command(String direction, Path socket, int port) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Relay.class.getName(),
                direction,
                socket.toString(),
                Integer.toString(port));
    }

    /** {@code in SOCKET PORT} listens at the port, and {@code out SOCKET PORT} at the socket. */
    public static void main(String[] arguments) throws IOException {
        UnixDomainSocketAddress socket = UnixDomainSocketAddress.of(arguments[1]);
        InetSocketAddress port =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[2]));
        boolean isInside = arguments[0].equals("in");
        try (ServerSocketChannel server = isInside
                ? ServerSocketChannel.open().bind(port)
                : ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(socket)) {
            System.out.println("ready");
            while (true) {
                SocketChannel accepted = server.accept();
                SocketChannel next = isInside ? SocketChannel.open(socket) : SocketChannel.open(port);
                pump(accepted, next);
                pump(next, accepted);
            }
        }
    }

    private static void pump(SocketChannel from, SocketChannel to) {
        Thread thread = new Thread(() -> {
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
        thread.setDaemon(true);
        thread.start();
    }
}
