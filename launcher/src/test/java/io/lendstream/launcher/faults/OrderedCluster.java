package io.lendstream.launcher.faults;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** What stands behind a webhook: it executes each order at once, and notes what no order may do. */
final class OrderedCluster implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpServer server;
    private final Map<String, String> tenants = new TreeMap<>(); // guarded by this
    private final Map<String, DecisionId> newest = new TreeMap<>(); // guarded by this
    private final List<String> violations = new ArrayList<>(); // guarded by this
    private final List<String> orders = new ArrayList<>(); // guarded by this

    private OrderedCluster(HttpServer server) {
        this.server = server;
    }

    static OrderedCluster start() {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            var cluster = new OrderedCluster(server);
            server.setExecutor(Executors.newCachedThreadPool());
            server.createContext("/orders", cluster::take);
            server.start();
            return cluster;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String url() {
        return "http://127.0.0.1:%d/orders".formatted(server.getAddress().getPort());
    }

    private void take(HttpExchange exchange) throws IOException {
        JsonNode order = JSON.readTree(exchange.getRequestBody().readAllBytes());
        execute(order);
        exchange.sendResponseHeaders(204, -1);
        exchange.close();
    }

    private synchronized void execute(JsonNode order) {
        String tenant = order.path(order.has("job") ? "job" : "service").asText();
        DecisionId decision = decision(order.path("decision").asText());
        List<String> units = new ArrayList<>();
        order.path("units").forEach(unit -> units.add(unit.asText()));
        orders.add("%d %s %s %s"
                .formatted(decision.sequence(), order.path("kind").asText(), tenant, String.join(",", units)));
        if (newest.containsKey(tenant) && decision.compareTo(newest.get(tenant)) < 0) {
            violations.add("an order of %s after one of %s".formatted(decision, newest.get(tenant)));
        }
        newest.put(tenant, decision);
        if (order.path("kind").asText().equals("force")) {
            units.forEach(unit -> tenants.remove(unit, tenant));
            return;
        }
        tenants.values().removeIf(tenant::equals);
        for (String unit : units) {
            String before = tenants.put(unit, tenant);
            if (before != null) {
                violations.add("%s has %s and %s".formatted(unit, before, tenant));
            }
        }
    }

    private static DecisionId decision(String id) {
        String[] parts = id.split("/", -1);
        return new DecisionId(new DomainId(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]));
    }

    /** The orders that have arrived: sequence of the decision, kind, tenant, units. */
    synchronized List<String> orders() {
        return List.copyOf(orders);
    }

    /** The tenant of each unit. */
    synchronized Map<String, String> tenants() {
        return new TreeMap<>(tenants);
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** How long it takes until an order has arrived. */
    long millisUntil(String order) throws InterruptedException {
        long begun = System.nanoTime();
        while (!orders().contains(order)) {
            if (System.nanoTime() - begun > Site.PATIENCE.toNanos()) {
                throw new AssertionError("no order '%s' in %s".formatted(order, orders()));
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
