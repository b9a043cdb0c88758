package io.lendstream.agent.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * An API server that has nodes and pods: it lists them by a field, and tells those who watch of each change, in lines
 * of JSON, as Kubernetes' documentation of its API has it. It remembers no changes: a watch from another version than
 * the newest is answered that it is gone.
 */
public final class PlayedApi implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String HANG_UP = "";

    /** A client that watches some of them. */
    private record Watcher(String kind, String selector, BlockingQueue<String> lines) {}

    /** A question that was asked. */
    public record Asked(String path, Map<String, String> query, String accept, String authorization) {}

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, Map<String, ObjectNode>> objects = new TreeMap<>();
    private final List<Watcher> watchers = new CopyOnWriteArrayList<>();
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> refused = new HashMap<>();
    private int version = 100;

    /** One that can be asked at once. */
    public PlayedApi() throws IOException {
        this(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    }

    PlayedApi(HttpServer server) {
        this.server = server;
        objects.put("pods", new TreeMap<>());
        objects.put("nodes", new TreeMap<>());
        server.createContext("/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    /** Its address, without TLS. */
    public String url() {
        return "http://127.0.0.1:" + port();
    }

    int port() {
        return server.getAddress().getPort();
    }

    List<Asked> asked() {
        return List.copyOf(asked);
    }

    long watching() {
        return watchers.size();
    }

    /** From now on one kind is refused with a status; 0 for no more. */
    synchronized void refuse(String kind, int status) {
        refused.put(kind, status);
    }

    /** An object comes, or is another one than before. */
    public synchronized void put(String kind, ObjectNode object) {
        version++;
        ObjectNode kept = object.deepCopy();
        ((ObjectNode) kept.get("metadata")).put("resourceVersion", String.valueOf(version));
        ObjectNode before = objects.get(kind).put(kept.at("/metadata/uid").asText(), kept);
        tell(kind, before == null ? "ADDED" : "MODIFIED", kept);
    }

    synchronized void remove(String kind, String uid) {
        version++;
        ObjectNode gone = objects.get(kind).remove(uid);
        ((ObjectNode) gone.get("metadata")).put("resourceVersion", String.valueOf(version));
        tell(kind, "DELETED", gone);
    }

    private void tell(String kind, String type, ObjectNode object) {
        ObjectNode event = JSON.createObjectNode().put("type", type);
        event.set("object", object);
        for (Watcher watcher : watchers) {
            if (watcher.kind().equals(kind) && matches(object, watcher.selector())) {
                watcher.lines().add(event.toString());
            } else if (watcher.kind().equals(kind)) {
                watcher.lines().add(bookmark());
            }
        }
    }

    private String bookmark() {
        return "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%d\"}}}".formatted(version);
    }

    /** Watching clients receive the error that their version is too old. */
    synchronized void forget() {
        version += 100;
        watchers.forEach(
                watcher -> watcher.lines()
                        .add(
                                "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old resource version\"}}"));
    }

    /** Hangs up on all who watch. */
    void hangUp() {
        watchers.forEach(watcher -> watcher.lines().add(HANG_UP));
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, String> query = query(exchange);
            String path = exchange.getRequestURI().getPath();
            asked.add(new Asked(
                    path,
                    query,
                    exchange.getRequestHeaders().getFirst("Accept"),
                    String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"))));
            String kind = path.substring(path.lastIndexOf('/') + 1);
            BlockingQueue<String> lines = new LinkedBlockingQueue<>();
            byte[] list;
            synchronized (this) {
                int status = refused.getOrDefault(kind, 0);
                if (status != 0) {
                    send(exchange, status, refusal(kind));
                    return;
                }
                if (query.containsKey("watch")) {
                    if (!query.get("resourceVersion").equals(String.valueOf(version))) {
                        send(exchange, 410, "{\"kind\":\"Status\",\"message\":\"too old\"}".getBytes(UTF_8));
                        return;
                    }
                    watchers.add(new Watcher(kind, query.get("fieldSelector"), lines));
                }
                list = list(kind, query.get("fieldSelector"));
            }
            if (!query.containsKey("watch")) {
                send(exchange, 200, list);
                return;
            }
            try {
                stream(exchange, lines, Integer.parseInt(query.get("timeoutSeconds")));
            } finally {
                watchers.removeIf(watcher -> watcher.lines() == lines);
            }
        }
    }

    private static byte[] refusal(String kind) {
        return "{\"kind\":\"Status\",\"message\":\"%s is forbidden: User \\\"agent\\\" cannot list resource\"}"
                .formatted(kind)
                .getBytes(UTF_8);
    }

    private byte[] list(String kind, String selector) {
        ObjectNode list = JSON.createObjectNode().put("kind", "List").put("apiVersion", "v1");
        list.putObject("metadata").put("resourceVersion", String.valueOf(version));
        ArrayNode items = list.putArray("items");
        objects.get(kind).values().stream()
                .filter(object -> matches(object, selector))
                .forEach(items::add);
        return list.toString().getBytes(UTF_8);
    }

    private void stream(HttpExchange exchange, BlockingQueue<String> lines, int seconds) throws IOException {
        exchange.sendResponseHeaders(200, 0);
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        try (OutputStream out = exchange.getResponseBody()) {
            out.flush();
            while (true) {
                String line = lines.poll(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
                if (line == null || line.equals(HANG_UP)) {
                    return;
                }
                out.write((line + "\n").getBytes(UTF_8));
                out.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean matches(JsonNode object, String selector) {
        String[] pair = selector.split("=", 2);
        return object.at("/" + pair[0].replace('.', '/')).asText().equals(pair[1]);
    }

    private static Map<String, String> query(HttpExchange exchange) {
        var query = new HashMap<String, String>();
        for (String pair : exchange.getRequestURI().getRawQuery().split("&", -1)) {
            String[] parts = pair.split("=", 2);
            query.put(parts[0], URLDecoder.decode(parts[1], UTF_8));
        }
        return query;
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    /** A pod of one container, {@code main}, that runs since a time, on {@code 127.0.0.1}. */
    public static ObjectNode pod(String node, String uid, String name, Map<String, String> annotations, String since) {
        String template = """
                {"metadata": {"namespace": "ml", "annotations": {}},
                 "spec": {"containers": [{"name": "main", "ports": [{"containerPort": 8000}]}]},
                 "status": {"phase": "Running", "podIP": "127.0.0.1",
                   "containerStatuses": [{"name": "main", "state": {"running": {}}}]}}
                """;
        try {
            ObjectNode pod = (ObjectNode) JSON.readTree(template);
            ((ObjectNode) pod.get("metadata")).put("uid", uid).put("name", name);
            annotations.forEach((key, value) -> ((ObjectNode) pod.at("/metadata/annotations")).put(key, value));
            ((ObjectNode) pod.get("spec")).put("nodeName", node);
            ((ObjectNode) pod.at("/status/containerStatuses/0/state/running")).put("startedAt", since);
            return pod;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A node with one label. */
    public static ObjectNode node(String name, String label, String value) {
        ObjectNode node = JSON.createObjectNode();
        ObjectNode metadata =
                node.putObject("metadata").put("uid", "uid-of-" + name).put("name", name);
        metadata.putObject("labels").put(label, value);
        return node;
    }

    static List<String> paths(List<Asked> asked) {
        var paths = new ArrayList<String>();
        asked.forEach(each -> paths.add(each.path()));
        return paths;
    }

    @Override
    public void close() {
        hangUp();
        server.stop(0);
        threads.shutdownNow();
    }
}
