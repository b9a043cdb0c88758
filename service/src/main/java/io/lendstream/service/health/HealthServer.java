package io.lendstream.service.health;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code /health/live}, {@code /health/ready} and {@code /metrics} over HTTP or HTTPS.
 *
 * <p>The JDK's own server gives each connection a thread until its request is complete, and accepts no more
 * connections than it has threads. A few half-open connections would then block the probes. This server always
 * accepts a new connection. When {@link OpenConnections#MOST} are open, it closes the oldest one without a complete
 * request. No connection stays open longer than the time limit, and each serves one request.
 */
public final class HealthServer implements AutoCloseable {
    /** How long a connection may stay open, from its first byte to its last. */
    static final Duration TIME_LIMIT = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(HealthServer.class);
    private static final int BACKLOG = 256;
    private static final int SWEEP_MILLIS = 250;
    /** How many bytes of a request's body are read, so that closing the connection does not discard the answer. */
    private static final int MOST_DRAINED = 64 << 10;

    private static final String PLAIN = "text/plain; charset=utf-8";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final ServerSocket listener;
    private final HealthAccess access;
    private final Map<String, Supplier<Answer>> pages;
    private final OpenConnections connections;
    private final ThreadPoolExecutor threads;

    /** An HTTP status with a text body. */
    private record Answer(int status, String type, String text) {}

    private HealthServer(
            ServerSocket listener, HealthAccess access, Map<String, Supplier<Answer>> pages, Duration timeLimit) {
        this.listener = listener;
        this.access = access;
        this.pages = pages;
        this.connections = new OpenConnections(timeLimit);
        // Twice the connections: the thread of a closed connection may need a moment to end.
        this.threads = new ThreadPoolExecutor(
                0, 2 * OpenConnections.MOST, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), HealthServer::daemon);
    }

    /**
     * Starts the server over plain HTTP, without a login.
     *
     * @param host the address to listen on
     * @param port 0 for any free port
     * @throws IOException if the port is taken or the address does not belong to this machine
     */
    public static HealthServer start(String host, int port, Health health, PrometheusMeterRegistry metrics)
            throws IOException {
        return start(host, port, HealthAccess.OPEN, health, metrics, Map.of());
    }

    /**
     * Starts the server with further texts for Prometheus.
     *
     * @param access who may read the metrics and the other texts
     * @param texts by their paths; each is generated at each request
     * @throws IOException if the port is taken or the address does not belong to this machine
     */
    public static HealthServer start(
            String host,
            int port,
            HealthAccess access,
            Health health,
            PrometheusMeterRegistry metrics,
            Map<String, Supplier<String>> texts)
            throws IOException {
        return start(new InetSocketAddress(host, port), access, health, metrics, texts, TIME_LIMIT);
    }

    static HealthServer start(
            InetSocketAddress address,
            HealthAccess access,
            Health health,
            PrometheusMeterRegistry metrics,
            Map<String, Supplier<String>> texts,
            Duration timeLimit)
            throws IOException {
        ServerSocket listener = new ServerSocket();
        try {
            listener.setReuseAddress(true);
            listener.bind(address, BACKLOG);
            listener.setSoTimeout(SWEEP_MILLIS);
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        Map<String, Supplier<Answer>> pages = new HashMap<>();
        pages.put("/health/live", () -> state(health.whyDead()));
        pages.put("/health/ready", () -> state(health.whyNotReady()));
        pages.put("/metrics", () -> new Answer(200, PROMETHEUS, metrics.scrape()));
        texts.forEach((path, text) -> pages.put(path, () -> new Answer(200, PROMETHEUS, text.get())));
        var server = new HealthServer(listener, access, pages, timeLimit);
        daemon(server::accept).start();
        server.announce(address.getHostString());
        return server;
    }

    private void announce(String host) {
        LOG.info("health and metrics on {}://{}:{}", access.tls().isPresent() ? "https" : "http", host, port());
        InetAddress bound = listener.getInetAddress();
        if (!bound.isLoopbackAddress() && access.login().isEmpty()) {
            LOG.warn(
                    "health.address is {}: every machine that reaches port {} can read the metrics. Set health.username and"
                            + " health.password-file, or let a network policy restrict the port.",
                    host,
                    port());
        }
    }

    /** The port that the server listens on. */
    public int port() {
        return listener.getLocalPort();
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            LOG.debug("cannot close the listening socket", e);
        }
        connections.closeAll();
        threads.shutdownNow();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                OpenConnections.Connection connection = connections.open(socket);
                try {
                    threads.execute(() -> serve(connection));
                } catch (RejectedExecutionException e) {
                    connections.close(connection);
                } catch (OutOfMemoryError e) {
                    connections.close(connection);
                    pause(e);
                }
            } catch (SocketTimeoutException e) {
                LOG.trace("cannot accept a connection", e);
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    pause(e);
                }
            }
            connections.closeOverdue();
        }
    }

    /** Accepting failed, for example without free file descriptors or threads. */
    private static void pause(Throwable why) {
        LOG.warn("cannot accept a connection for health or metrics: {}", why.getMessage());
        try {
            Thread.sleep(SWEEP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(OpenConnections.Connection connection) {
        try {
            Socket socket = secured(connection.socket());
            answer(connection, socket);
        } catch (IOException e) {
            LOG.trace("the client closed the connection early", e);
        } catch (RuntimeException e) {
            LOG.warn("cannot answer a request for health or metrics", e);
        } finally {
            connections.close(connection);
        }
    }

    private Socket secured(Socket socket) throws IOException {
        Optional<SSLContext> tls = access.tls();
        if (tls.isEmpty()) {
            return socket;
        }
        SSLSocket secured = (SSLSocket) tls.get().getSocketFactory().createSocket(socket, null, socket.getPort(), true);
        secured.setUseClientMode(false);
        return secured;
    }

    private void answer(OpenConnections.Connection connection, Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        Optional<HttpRequestHead> request;
        try {
            request = HttpRequestHead.read(in);
        } catch (HttpRequestHead.UnreadableException e) {
            send(socket, new Answer(e.status(), PLAIN, e.getMessage() + "\n"), true);
            drain(socket, in);
            return;
        }
        if (request.isEmpty()) {
            return;
        }
        connection.isComplete();
        send(socket, answer(request.get()), !request.get().method().equals("HEAD"));
        drain(socket, in);
    }

    private Answer answer(HttpRequestHead request) {
        Supplier<Answer> page = pages.get(request.path());
        if (page == null) {
            return new Answer(404, PLAIN, "try /health/live, /health/ready or /metrics\n");
        }
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            return new Answer(405, PLAIN, "only GET\n");
        }
        if (!request.path().startsWith("/health/") && !access.allows(request.authorization())) {
            return new Answer(401, PLAIN, "reading metrics requires the login of health.username\n");
        }
        return page.get();
    }

    private static Answer state(Optional<String> whyNot) {
        return new Answer(
                whyNot.isPresent() ? 503 : 200,
                PLAIN,
                whyNot.map(why -> "no: " + why).orElse("yes") + "\n");
    }

    private static void send(Socket socket, Answer answer, boolean withBody) throws IOException {
        byte[] body = answer.text().getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s%sConnection: close\r\n\r\n"
                .formatted(
                        answer.status(),
                        reason(answer.status()),
                        answer.type(),
                        body.length,
                        answer.status() == 401 ? "WWW-Authenticate: Basic realm=\"lendstream\"\r\n" : "",
                        answer.status() == 405 ? "Allow: GET, HEAD\r\n" : "");
        OutputStream out = new BufferedOutputStream(socket.getOutputStream(), 16 << 10);
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        if (withBody) {
            out.write(body);
        }
        out.flush();
        socket.shutdownOutput();
    }

    private static String reason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 431 -> "Request Header Fields Too Large";
            default -> "Service Unavailable";
        };
    }

    private static void drain(Socket socket, InputStream in) throws IOException {
        socket.setSoTimeout(SWEEP_MILLIS);
        byte[] buffer = new byte[4 << 10];
        int drained = 0;
        int read = 0;
        while (read >= 0 && drained < MOST_DRAINED) {
            read = in.read(buffer);
            drained += Math.max(0, read);
        }
    }

    private static Thread daemon(Runnable body) {
        var thread = new Thread(body, "health");
        thread.setDaemon(true);
        return thread;
    }
}
