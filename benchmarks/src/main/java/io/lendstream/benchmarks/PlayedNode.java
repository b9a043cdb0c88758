package io.lendstream.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A simulated Kubernetes node for an agent. Its API server lists its pods without changes, and each pod has a page of
 * requests.
 */
final class PlayedNode implements AutoCloseable {
    static final String NAME = "bench-node";

    private static final String LIST = "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[%s]}";
    private static final String POD =
            "{\"metadata\":{\"uid\":\"u%1$d\",\"namespace\":\"ml\",\"name\":\"chat-%1$d\",\"resourceVersion\":\"1\",\"annotations\":{"
                    + "\"lendstream.io/scrape-preset\":\"vllm\",\"lendstream.io/scrape-service\":\"chat-%1$d\","
                    + "\"lendstream.io/scrape-port\":\"%2$d\",\"lendstream.io/scrape-path\":\"/pods/%1$d\"}},"
                    + "\"spec\":{\"nodeName\":\"bench-node\",\"containers\":[{\"name\":\"server\",\"ports\":[{\"containerPort\":%2$d}]}]},"
                    + "\"status\":{\"phase\":\"Running\",\"podIP\":\"127.0.0.1\",\"containerStatuses\":[{\"name\":\"server\","
                    + "\"state\":{\"running\":{\"startedAt\":\"2026-01-01T00:00:00Z\"}}}]}}";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicLong requests = new AtomicLong();
    private final int pods;

    PlayedNode(int pods) {
        this.pods = pods;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/api/v1/pods", exchange -> answer(exchange, podList()));
        server.createContext("/api/v1/nodes", exchange -> answer(exchange, LIST.formatted("")));
        server.createContext("/pods/", exchange -> send(exchange, page()));
        server.setExecutor(threads);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + port();
    }

    private int port() {
        return server.getAddress().getPort();
    }

    private String podList() {
        return LIST.formatted(IntStream.range(0, pods)
                .mapToObj(pod -> POD.formatted(pod, port()))
                .collect(Collectors.joining(",")));
    }

    /** The counters of vLLM, all increasing. */
    private String page() {
        long served = requests.addAndGet(10);
        String bars = IntStream.rangeClosed(1, 20)
                .mapToObj(bar -> "vllm:e2e_request_latency_seconds_bucket{le=\"%.1f\",model_name=\"m\"} %d%n"
                        .formatted(bar / 10.0, served * bar / 20))
                .collect(Collectors.joining());
        return """
                # TYPE vllm:num_requests_running gauge
                vllm:num_requests_running{model_name="m"} 3
                # TYPE vllm:num_requests_waiting gauge
                vllm:num_requests_waiting{model_name="m"} 1
                # TYPE vllm:request_success counter
                vllm:request_success_total{finished_reason="stop",model_name="m"} %1$d
                # TYPE vllm:e2e_request_latency_seconds histogram
                %2$svllm:e2e_request_latency_seconds_bucket{le="+Inf",model_name="m"} %1$d
                vllm:e2e_request_latency_seconds_count{model_name="m"} %1$d
                vllm:e2e_request_latency_seconds_sum{model_name="m"} %1$d
                """.formatted(served, bars);
    }

    private static void answer(HttpExchange exchange, String list) throws IOException {
        if (exchange.getRequestURI().getQuery().contains("watch=1")) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().flush(); // and sends no more
        } else {
            send(exchange, list);
        }
    }

    private static void send(HttpExchange exchange, String text) throws IOException {
        try (exchange) {
            byte[] bytes = text.getBytes(UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
