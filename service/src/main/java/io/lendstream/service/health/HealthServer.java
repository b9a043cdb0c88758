package io.lendstream.service.health;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers {@code /health/live}, {@code /health/ready} and {@code /metrics}. */
public final class HealthServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HealthServer.class);
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int UNAVAILABLE = 503;

    private final HttpServer server;
    private final ExecutorService threads;

    private HealthServer(HttpServer server, ExecutorService threads) {
        this.server = server;
        this.threads = threads;
    }

    /**
     * Starts to answer.
     *
     * @param host the address to listen on
     * @param port 0 for any that is free
     * @throws IOException where the port is taken or the address is not this machine's
     */
    public static HealthServer start(String host, int port, Health health, PrometheusMeterRegistry metrics)
            throws IOException {
        return start(host, port, health, metrics, Map.of());
    }

    /**
     * Starts to answer, with more texts for Prometheus.
     *
     * @param pages by their paths; each is made when it is asked for
     * @throws IOException where the port is taken or the address is not this machine's
     */
    public static HealthServer start(
            String host, int port, Health health, PrometheusMeterRegistry metrics, Map<String, Supplier<String>> pages)
            throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(host, port), 0);
        ExecutorService threads = Executors.newFixedThreadPool(2, body -> {
            var thread = new Thread(body, "health");
            thread.setDaemon(true);
            return thread;
        });
        server.setExecutor(threads);
        server.createContext("/health/live", exchange -> answer(exchange, "/health/live", health::whyDead));
        server.createContext("/health/ready", exchange -> answer(exchange, "/health/ready", health::whyNotReady));
        show(server, "/metrics", metrics::scrape);
        pages.forEach((path, page) -> show(server, path, page));
        server.createContext(
                "/",
                exchange -> send(
                        exchange,
                        NOT_FOUND,
                        "text/plain; charset=utf-8",
                        "try /health/live, /health/ready or /metrics\n"));
        server.start();
        var started = new HealthServer(server, threads);
        LOG.info("health and metrics on http://{}:{}", host, started.port());
        return started;
    }

    private static void show(HttpServer server, String path, Supplier<String> page) {
        server.createContext(path, exchange -> {
            if (isGetOf(exchange, path)) {
                send(exchange, OK, "text/plain; version=0.0.4; charset=utf-8", page.get());
            }
        });
    }

    /** The port that it listens on. */
    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private static void answer(HttpExchange exchange, String path, Supplier<Optional<String>> whyNot)
            throws IOException {
        if (!isGetOf(exchange, path)) {
            return;
        }
        Optional<String> reason = whyNot.get();
        send(
                exchange,
                reason.isPresent() ? UNAVAILABLE : OK,
                "text/plain; charset=utf-8",
                reason.map(why -> "no: " + why).orElse("yes") + "\n");
    }

    private static boolean isGetOf(HttpExchange exchange, String path) throws IOException {
        if (!exchange.getRequestURI().getPath().equals(path)) {
            send(exchange, NOT_FOUND, "text/plain; charset=utf-8", "not here\n");
            return false;
        }
        if (!exchange.getRequestMethod().equals("GET")
                && !exchange.getRequestMethod().equals("HEAD")) {
            send(exchange, METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", "only GET\n");
            return false;
        }
        return true;
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            boolean head = exchange.getRequestMethod().equals("HEAD");
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(status, head ? -1 : body.length);
            if (!head) {
                exchange.getResponseBody().write(body);
            }
        }
    }
}
