package io.lendstream.schemas.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.avro.Schema;

/**
 * A client of a schema registry with Confluent's REST interface: Confluent's own, Apicurio's {@code
 * /apis/ccompat/v7}, Karapace and others.
 *
 * <p>IDs and schemas never change, so they are requested once and cached. After a connection failure or a server
 * error, the request is repeated at the other addresses and then, after a growing pause, from the first one. Any
 * other refusal is final. Safe for many threads.
 */
public final class RegistryClient {
    private static final int FORBIDDEN = 403;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_REFERENCES = 100;
    private static final int DEEPEST_REFERENCE = 16;
    private static final ConcurrentHashMap<RegistrySettings, RegistryClient> SHARED = new ConcurrentHashMap<>();

    private final RegistryConnection connection;
    private final ConcurrentHashMap<Integer, Schema> schemas = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<SubjectSchema, Integer> registered = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<SubjectSchema, Integer> found = new ConcurrentHashMap<>();
    private final UnknownIds unknown;

    private record SubjectSchema(String subject, Schema schema) {}

    public RegistryClient(RegistrySettings settings) {
        this(settings, System::nanoTime);
    }

    /** @param nanoClock a clock like {@link System#nanoTime} */
    RegistryClient(RegistrySettings settings, LongSupplier nanoClock) {
        this.connection = new RegistryConnection(settings);
        this.unknown = new UnknownIds(nanoClock);
    }

    /** One client, with its threads and cache, for all serializers with equal settings in this process. */
    public static RegistryClient shared(RegistrySettings settings) {
        return SHARED.computeIfAbsent(settings, RegistryClient::new);
    }

    /**
     * Returns the writer schema with an ID. An ID that the registry does not know is cached as unknown for a while.
     *
     * @throws SchemaNotFoundException if the registry does not know the ID, or did not a moment ago
     * @throws UnreadableSchemaException if it is not an Avro schema within our bounds, or this user may not read it
     */
    public Schema schemaById(int id) {
        Schema known = schemas.get(id);
        if (known != null) {
            return known;
        }
        unknown.refusal(id).ifPresent(why -> {
            throw why;
        });
        Schema schema;
        try {
            schema = schema("schema id " + id, connection.get("/schemas/ids/" + id));
        } catch (SchemaNotFoundException | UnreadableSchemaException e) {
            unknown.add(id, e);
            throw e;
        } catch (RegistryException e) {
            if (e.status() != FORBIDDEN || schemas.isEmpty()) {
                throw e;
            }
            var ofOthers = new UnreadableSchemaException(
                    "this user may not read schema id %d, but may read others: %s".formatted(id, e.getMessage()), e);
            unknown.add(id, ofOthers);
            throw ofOthers;
        }
        unknown.remove(id);
        Schema before = schemas.putIfAbsent(id, schema);
        return before == null ? schema : before;
    }

    /** Registers a schema as the subject's newest version, unless it is registered already; returns its ID. */
    public int register(String subject, Schema schema) {
        return remembered(
                registered,
                subject,
                schema,
                () -> connection.post("/subjects/" + encoded(subject) + "/versions", body(schema)));
    }

    /** The ID of a schema that is one of the subject's versions; throws if it is not. */
    public int idOf(String subject, Schema schema) {
        return remembered(found, subject, schema, () -> connection.post("/subjects/" + encoded(subject), body(schema)));
    }

    /** The subject's newest version, if there is one. */
    public Optional<RegisteredSchema> latest(String subject) {
        return unlessNotFound(() -> version(subject, "latest"));
    }

    public RegisteredSchema version(String subject, int version) {
        return version(subject, Integer.toString(version));
    }

    /**
     * Fetches all versions of a subject, so that their records can be read while the registry does not answer, or is
     * asked for too many unknown IDs. Unreadable versions are skipped.
     */
    public void learn(String subject) {
        for (int number : versions(subject)) {
            RegisteredSchema version;
            try {
                version = version(subject, number);
            } catch (UnreadableSchemaException e) {
                continue; // only the records of this version are undecodable
            }
            schemas.putIfAbsent(version.id(), version.schema());
            found.putIfAbsent(new SubjectSchema(subject, version.schema()), version.id());
        }
    }

    /** The numbers of the subject's versions, oldest first; none for a subject that does not exist. */
    public List<Integer> versions(String subject) {
        return unlessNotFound(() -> {
                    List<Integer> versions = new ArrayList<>();
                    connection
                            .get("/subjects/" + encoded(subject) + "/versions")
                            .forEach(version -> versions.add(version.asInt()));
                    return versions;
                })
                .orElse(List.of());
    }

    public List<String> subjects() {
        List<String> subjects = new ArrayList<>();
        connection.get("/subjects").forEach(subject -> subjects.add(subject.asText()));
        return subjects;
    }

    /**
     * Whether the registry would accept the schema as the subject's next version, under the subject's compatibility
     * level.
     * A subject without versions accepts any schema.
     */
    public Compatibility check(String subject, Schema schema) {
        String path = "/compatibility/subjects/" + encoded(subject) + "/versions/latest?verbose=true";
        return unlessNotFound(() -> {
                    JsonNode answer = connection.post(path, body(schema));
                    List<String> messages = new ArrayList<>();
                    answer.path("messages").forEach(message -> messages.add(message.asText()));
                    return new Compatibility(answer.path("is_compatible").asBoolean(), messages);
                })
                .orElse(new Compatibility(true, List.of()));
    }

    /** The level set for the subject itself; empty if the registry's default applies. */
    public Optional<CompatibilityLevel> compatibility(String subject) {
        return unlessNotFound(() -> {
            String level = connection
                    .get("/config/" + encoded(subject))
                    .path("compatibilityLevel")
                    .asText();
            try {
                return CompatibilityLevel.valueOf(level);
            } catch (IllegalArgumentException e) {
                throw new RegistryException(
                        "the registry's compatibility level for %s is '%s', which this client does not know"
                                .formatted(subject, level),
                        200,
                        0,
                        e);
            }
        });
    }

    public void setCompatibility(String subject, CompatibilityLevel level) {
        ObjectNode body = JSON.createObjectNode().put("compatibility", level.name());
        connection.put("/config/" + encoded(subject), body);
    }

    private RegisteredSchema version(String subject, String version) {
        JsonNode answer = connection.get("/subjects/" + encoded(subject) + "/versions/" + version);
        Schema schema = schema(subject + " version " + version, answer);
        return new RegisteredSchema(
                subject, answer.path("version").asInt(), answer.path("id").asInt(), schema);
    }

    private int remembered(
            ConcurrentHashMap<SubjectSchema, Integer> memory,
            String subject,
            Schema schema,
            java.util.function.Supplier<JsonNode> question) {
        SubjectSchema key = new SubjectSchema(subject, schema);
        Integer known = memory.get(key);
        if (known != null) {
            return known;
        }
        JsonNode answer = question.get();
        if (!answer.path("id").canConvertToInt()) {
            throw new RegistryException(
                    "the registry's answer for subject %s has no id: %s".formatted(subject, answer), 200, 0, null);
        }
        int id = answer.path("id").asInt();
        memory.put(key, id);
        schemas.putIfAbsent(id, schema);
        return id;
    }

    private static JsonNode body(Schema schema) {
        return JSON.createObjectNode().put("schema", schema.toString());
    }

    /** Reads the Avro schema of an answer, after the schemas that it references. */
    private Schema schema(String what, JsonNode answer) {
        String type = answer.path("schemaType").asText("AVRO");
        if (!type.equals("AVRO")) {
            throw new UnreadableSchemaException("%s is a %s schema; only AVRO can be read".formatted(what, type), null);
        }
        Schema.Parser parser = new Schema.Parser().setValidateDefaults(false);
        try {
            parseReferences(parser, what, answer, 1, new AtomicInteger());
            return parser.parse(answer.path("schema").asText());
        } catch (RegistryException e) {
            throw e;
        } catch (RuntimeException | StackOverflowError e) { // Avro's exceptions, and any other error of its parser
            throw new UnreadableSchemaException("%s is not a valid Avro schema: %s".formatted(what, e.getMessage()), e);
        }
    }

    /**
     * Reads the schemas that a schema references.
     *
     * @param depth depth of the references, 1 for those of the schema itself
     * @param asked how many schemas were requested so far
     */
    private void parseReferences(Schema.Parser parser, String what, JsonNode answer, int depth, AtomicInteger asked) {
        for (JsonNode reference : answer.path("references")) {
            if (parser.getTypes().containsKey(reference.path("name").asText())) {
                continue;
            }
            if (depth > DEEPEST_REFERENCE || asked.incrementAndGet() > MOST_REFERENCES) {
                throw new UnreadableSchemaException(
                        "%s refers to more than %d schemas, or more than %d deep; use a schema without so many references"
                                .formatted(what, MOST_REFERENCES, DEEPEST_REFERENCE),
                        null);
            }
            JsonNode referred = connection.get(
                    "/subjects/" + encoded(reference.path("subject").asText()) + "/versions/"
                            + reference.path("version").asInt());
            parseReferences(parser, what, referred, depth + 1, asked);
            parser.parse(referred.path("schema").asText());
        }
    }

    private static String encoded(String subject) {
        return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static <T> Optional<T> unlessNotFound(java.util.function.Supplier<T> question) {
        try {
            return Optional.of(question.get());
        } catch (SchemaNotFoundException e) {
            return Optional.empty();
        }
    }
}
