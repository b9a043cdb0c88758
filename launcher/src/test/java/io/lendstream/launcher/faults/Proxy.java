package io.lendstream.launcher.faults;

import io.lendstream.stack.Ports;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A way to a broker that can be blocked: nothing is refused or closed then, and nothing arrives. What was sent meanwhile arrives
 * when the way is free again, as after a partition of a network.
 */
final class Proxy implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;

    private final ServerSocket entrance;
    private final int exit;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Object gate = new Object();
    private boolean blocked; // guarded by gate

    private Proxy(ServerSocket entrance, int exit) {
        this.entrance = entrance;
        this.exit = exit;
    }

    /** Opens a way to a port of this machine, which need not be listened on yet. */
    static Proxy to(int exit) {
        try {
            var entrance = new ServerSocket();
            entrance.setReuseAddress(true);
            entrance.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free()));
            var proxy = new Proxy(entrance, exit);
            inBackground("proxy", proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return entrance.getLocalPort();
    }

    void block() {
        synchronized (gate) {
            blocked = true;
        }
    }

    void unblock() {
        synchronized (gate) {
            blocked = false;
            gate.notifyAll();
        }
    }

    private void accept() {
        while (!entrance.isClosed()) {
            try {
                Socket client = entrance.accept();
                sockets.add(client);
                inBackground("proxy-connection", () -> connect(client));
            } catch (IOException e) {
                return; // it is closed
            }
        }
    }

    private void connect(Socket client) {
        try {
            awaitFree();
            Socket broker = new Socket(InetAddress.getLoopbackAddress(), exit);
            sockets.add(broker);
            client.setTcpNoDelay(true);
            broker.setTcpNoDelay(true);
            inBackground("proxy-answers", () -> copy(broker, client));
            copy(client, broker);
        } catch (IOException e) {
            close(client); // no process listens there
        }
    }

    private void copy(Socket from, Socket to) {
        byte[] buffer = new byte[BUFFER_BYTES];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                awaitFree();
                out.write(buffer, 0, read);
            }
            awaitFree();
        } catch (IOException e) {
            // One of the two is gone, and so is the other now.
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    private void awaitFree() throws IOException {
        synchronized (gate) {
            while (blocked) {
                try {
                    gate.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException(e);
                }
            }
        }
    }

    private static void inBackground(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is gone
        }
    }

    @Override
    public void close() {
        try {
            entrance.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        unblock();
        sockets.forEach(Proxy::close);
    }
}
