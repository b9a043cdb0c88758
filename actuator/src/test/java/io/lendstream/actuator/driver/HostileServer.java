package io.lendstream.actuator.driver;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A server of bytes: it reads a request and then runs the test's action on the connection. */
final class HostileServer implements AutoCloseable {
    private final ServerSocket server;
    private final AtomicReference<Answer> answer = new AtomicReference<>(OK);
    private final List<String> heads = new CopyOnWriteArrayList<>();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    static final Answer OK = (out, socket) -> write(out, "HTTP/1.1 204 No Content\r\n\r\n");

    /** What it does once it has the request. */
    interface Answer {
        void give(OutputStream out, Socket socket) throws IOException, InterruptedException;
    }

    HostileServer() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(() -> {
            while (true) {
                Socket socket = server.accept();
                open.add(socket);
                daemon(() -> serve(socket));
            }
        });
    }

    URI address(String login) {
        return URI.create("http://%s127.0.0.1:%d/hook".formatted(login, server.getLocalPort()));
    }

    void answers(Answer next) {
        answer.set(next);
    }

    /** Request line and headers of each request, in lower case. */
    List<String> heads() {
        return List.copyOf(heads);
    }

    /** Waits until the other end has closed a connection while it was being answered, or reset it. */
    boolean isLeft() throws InterruptedException {
        return closed.await(10, TimeUnit.SECONDS);
    }

    static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private void serve(Socket socket) throws IOException, InterruptedException {
        try (socket) {
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            StringBuilder head = new StringBuilder();
            int length = 0;
            for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
                head.append(line).append('\n');
                if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                    length = Integer.parseInt(
                            line.substring("content-length:".length()).strip());
                }
            }
            for (int i = 0; i < length; i++) {
                in.read();
            }
            heads.add(head.toString());
            try {
                answer.get().give(socket.getOutputStream(), socket);
                if (!socket.isClosed() && in.read() < 0) {
                    closed.countDown();
                }
            } catch (SocketException e) {
                closed.countDown();
            }
        }
    }

    private interface Task {
        void run() throws IOException, InterruptedException;
    }

    private static void daemon(Task task) {
        var thread = new Thread(() -> {
            try {
                task.run();
            } catch (SocketException e) {
                // The test is over, or the connection is.
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket each : open) {
            each.close();
        }
    }
}
