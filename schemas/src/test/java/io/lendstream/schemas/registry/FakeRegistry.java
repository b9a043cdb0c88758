package io.lendstream.schemas.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;

/** A schema registry in this process that answers as Confluent's does, and can be made to fail. */
public final class FakeRegistry implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    static {
        // Else every answer waits 40 ms for an acknowledgement, as its header and its body are sent apart.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private final Set<Integer> forbidden = new HashSet<>();
    private final HttpServer server;
    private final List<JsonNode> schemas = new ArrayList<>();
    private final Map<String, List<Integer>> subjects = new TreeMap<>();
    private final Map<String, String> levels = new TreeMap<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final AtomicInteger failures = new AtomicInteger();
    private volatile Optional<String> user = Optional.empty();
    private volatile boolean levelsNeedSubjects;
    private volatile boolean down;

    public FakeRegistry() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::handle);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Method and path of every request so far. */
    public List<String> requests() {
        return requests;
    }

    public void failNext(int times) {
        failures.set(times);
    }

    public void goDown() {
        down = true;
    }

    public void comeBack() {
        down = false;
    }

    /** Keeps a schema from those who ask for its id, as a registry with rights by subject does. */
    synchronized void forbid(int id) {
        forbidden.add(id);
    }

    void demandUser(String userInfo) {
        user = Optional.of(userInfo);
    }

    /** As Apicurio: compatibility can only be set for a subject that has a version. */
    public void keepLevelsOnlyForKnownSubjects() {
        levelsNeedSubjects = true;
    }

    /** Gives the next id to a schema as it stands, whatever its type. */
    int add(String schema, String type, List<Map<String, Object>> references) {
        ObjectNode node = JSON.createObjectNode().put("schema", schema);
        if (!type.equals("AVRO")) {
            node.put("schemaType", type);
        }
        if (!references.isEmpty()) {
            node.set("references", JSON.valueToTree(references));
        }
        schemas.add(node);
        return schemas.size();
    }

    void addVersion(String subject, int id) {
        subjects.computeIfAbsent(subject, key -> new ArrayList<>()).add(id);
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private synchronized void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        requests.add(exchange.getRequestMethod() + " " + path);
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        if (down || failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            reply(exchange, error(500, 50001, "Error in the backend data store"));
            return;
        }
        String given = exchange.getRequestHeaders().getFirst("Authorization");
        if (user.isPresent() && !basic(user.get()).equals(given)) {
            reply(exchange, error(401, 401, "Unauthorized"));
            return;
        }
        JsonNode json = body.isEmpty() ? JSON.createObjectNode() : JSON.readTree(body);
        String[] raw = path.substring(1).split("/", -1);
        List<String> parts = new ArrayList<>();
        for (String part : raw) {
            parts.add(URLDecoder.decode(part, StandardCharsets.UTF_8));
        }
        reply(exchange, answer(exchange.getRequestMethod(), parts, json));
    }

    private record Answer(int status, JsonNode body) {}

    private Answer answer(String method, List<String> path, JsonNode body) {
        return switch (method + " " + path.get(0)) {
            case "GET schemas" -> schemaById(Integer.parseInt(path.get(2)));
            case "GET subjects" -> path.size() == 1 ? ok(JSON.valueToTree(subjects.keySet())) : versions(path);
            case "POST subjects" -> path.size() == 2 ? lookUp(path.get(1), body) : register(path.get(1), body);
            case "POST compatibility" -> compatibility(path.get(2), body);
            case "GET config" -> level(path.get(1));
            case "PUT config" -> setLevel(path.get(1), body);
            default -> error(404, 404, "HTTP 404 Not Found");
        };
    }

    private Answer schemaById(int id) {
        if (forbidden.contains(id)) {
            return error(403, 40301, "User is denied operation Read on the subject");
        }
        return id >= 1 && id <= schemas.size()
                ? ok(schemas.get(id - 1))
                : error(404, 40403, "Schema " + id + " not found");
    }

    private Answer versions(List<String> path) {
        String subject = path.get(1);
        List<Integer> ids = subjects.get(subject);
        if (ids == null) {
            return error(404, 40401, "Subject '" + subject + "' not found.");
        }
        if (path.size() == 3) {
            List<Integer> numbers = new ArrayList<>();
            for (int i = 1; i <= ids.size(); i++) {
                numbers.add(i);
            }
            return ok(JSON.valueToTree(numbers));
        }
        int version = path.get(3).equals("latest") ? ids.size() : Integer.parseInt(path.get(3));
        if (version < 1 || version > ids.size()) {
            return error(404, 40402, "Version " + version + " not found.");
        }
        int id = ids.get(version - 1);
        ObjectNode answer = schemas.get(id - 1).deepCopy();
        return ok(answer.put("subject", subject).put("version", version).put("id", id));
    }

    private Answer lookUp(String subject, JsonNode body) {
        List<Integer> ids = subjects.get(subject);
        if (ids == null) {
            return error(404, 40401, "Subject '" + subject + "' not found.");
        }
        for (int id : ids) {
            if (schema(id).equals(parsed(body))) {
                return ok(JSON.createObjectNode().put("subject", subject).put("id", id));
            }
        }
        return error(404, 40403, "Schema not found");
    }

    private Answer register(String subject, JsonNode body) {
        List<Integer> ids = subjects.getOrDefault(subject, List.of());
        for (int id : ids) {
            if (schema(id).equals(parsed(body))) {
                return ok(JSON.createObjectNode().put("id", id));
            }
        }
        if (!compatible(subject, parsed(body))) {
            return error(
                    409,
                    409,
                    "Schema being registered is incompatible with an earlier schema for subject \"" + subject + "\"");
        }
        int id = add(body.path("schema").asText(), "AVRO", List.of());
        addVersion(subject, id);
        return ok(JSON.createObjectNode().put("id", id));
    }

    private Answer compatibility(String subject, JsonNode body) {
        if (!subjects.containsKey(subject)) {
            return error(404, 40402, "Version not found.");
        }
        boolean compatible = compatible(subject, parsed(body));
        ObjectNode answer = JSON.createObjectNode().put("is_compatible", compatible);
        if (!compatible) {
            answer.putArray("messages").add("READER_FIELD_MISSING_DEFAULT_VALUE");
        }
        return ok(answer);
    }

    private Answer level(String subject) {
        String level = levels.get(subject);
        return level == null
                ? error(404, 40408, "Subject '" + subject + "' does not have subject-level compatibility configured")
                : ok(JSON.createObjectNode().put("compatibilityLevel", level));
    }

    private Answer setLevel(String subject, JsonNode body) {
        if (levelsNeedSubjects && !subjects.containsKey(subject)) {
            return error(404, 40401, "No artifact with ID '" + subject + "' was found.");
        }
        levels.put(subject, body.path("compatibility").asText());
        return ok(body);
    }

    private boolean compatible(String subject, Schema schema) {
        String level = levels.getOrDefault(subject, "BACKWARD");
        List<Integer> ids = subjects.getOrDefault(subject, List.of());
        List<Integer> relevant =
                level.endsWith("TRANSITIVE") || ids.isEmpty() ? ids : ids.subList(ids.size() - 1, ids.size());
        for (int id : relevant) {
            boolean backward = level.startsWith("FORWARD") || level.equals("NONE") || reads(schema, schema(id));
            boolean forward = level.startsWith("BACKWARD") || level.equals("NONE") || reads(schema(id), schema);
            if (!backward || !forward) {
                return false;
            }
        }
        return true;
    }

    private static boolean reads(Schema reader, Schema writer) {
        return SchemaCompatibility.checkReaderWriterCompatibility(reader, writer)
                        .getType()
                == SchemaCompatibilityType.COMPATIBLE;
    }

    private Schema schema(int id) {
        return parsed(schemas.get(id - 1));
    }

    private static Schema parsed(JsonNode node) {
        return new Schema.Parser().parse(node.path("schema").asText());
    }

    private static Answer ok(JsonNode body) {
        return new Answer(200, body);
    }

    private static Answer error(int status, int code, String message) {
        return new Answer(
                status, JSON.createObjectNode().put("error_code", code).put("message", message));
    }

    private static String basic(String userInfo) {
        return "Basic " + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.UTF_8));
    }

    private static void reply(HttpExchange exchange, Answer answer) throws IOException {
        byte[] bytes = JSON.writeValueAsBytes(answer.body);
        exchange.getResponseHeaders().add("Content-Type", "application/vnd.schemaregistry.v1+json");
        exchange.sendResponseHeaders(answer.status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
