package io.lendstream.schemas.topics;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.schemas.events.CloudEventHeaders;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Our topics as an AsyncAPI 3.0 document: a channel each, with Kafka's bindings, and one of dead letters.
 *
 * @see <a href="https://www.asyncapi.com/docs/reference/specification/v3.0.0">AsyncAPI 3.0.0</a>
 * @see <a href="https://www.asyncapi.com/docs/reference/bindings/kafka">Kafka bindings 0.5.0</a>
 */
final class AsyncApiPage {
    private static final TopicCatalogue CATALOGUE = TopicCatalogue.standard();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String BINDING_VERSION = "0.5.0";
    private static final String AVRO = "application/vnd.apache.avro+json;version=1.9.0";

    private AsyncApiPage() {}

    static String text() {
        return "# Made from TopicCatalogue and schemas/src/main/avro by AsyncApiDocsTest; ./dev docs writes it again.\n"
                + Yaml.of(document());
    }

    static ObjectNode document() {
        ObjectNode document = JSON.createObjectNode();
        document.put("asyncapi", "3.0.0");
        ObjectNode info = document.putObject("info");
        info.put("title", "Lendstream");
        // All versions of the records read each other, so this changes only where that ends.
        info.put("version", "1.0.0");
        info.put(
                "description",
                "Lends GPUs that inference leaves idle to training, and takes them back in time. Topics are its only interface."
                        + " Names start with %s unless a site chooses another prefix (topic-prefix)."
                                .formatted(TopicCatalogue.DEFAULT_PREFIX));
        ObjectNode license = info.putObject("license");
        license.put("name", "Apache-2.0");
        license.put("url", "https://www.apache.org/licenses/LICENSE-2.0");
        document.put("defaultContentType", CloudEventHeaders.CONTENT_TYPE);
        ObjectNode channels = document.putObject("channels");
        ObjectNode components = document.putObject("components");
        ObjectNode messages = components.putObject("messages");
        Map<String, TopicDefinition> definitions = new TreeMap<>();
        TopicDefinition.all(CATALOGUE).forEach(definition -> definitions.put(definition.name(), definition));
        for (Topic<?> topic : TopicCatalogue.ALL) {
            channels.set(topic.suffix(), channel(topic, definitions.get(CATALOGUE.name(topic))));
            messages.set(topic.recordName(), message(topic));
        }
        channels.set("dead-letters", deadLetters(definitions.get(CATALOGUE.deadLetters(TopicCatalogue.ALL.get(0)))));
        messages.set("DeadLetter", deadLetter());
        components.putObject("messageTraits").set("cloudEvent", cloudEvent());
        return document;
    }

    private static ObjectNode channel(Topic<?> topic, TopicDefinition definition) {
        ObjectNode channel = JSON.createObjectNode();
        channel.put("address", CATALOGUE.name(topic));
        channel.put("description", sentence(topic.content()));
        channel.putObject("messages").set(topic.recordName(), reference("messages", topic.recordName()));
        channel.set("bindings", kafka(topicBinding(definition)));
        return channel;
    }

    private static ObjectNode topicBinding(TopicDefinition definition) {
        ObjectNode binding = JSON.createObjectNode();
        definition.partitions().ifPresent(partitions -> binding.put("partitions", partitions));
        ObjectNode configuration = binding.putObject("topicConfiguration");
        definition.config().forEach((name, value) -> {
            if (name.equals("cleanup.policy")) {
                ArrayNode policies = configuration.putArray(name);
                List.of(value.split(",", -1)).forEach(policies::add);
            } else if (name.endsWith(".ms")) {
                configuration.put(name, Long.parseLong(value));
            } else {
                configuration.put(name, value);
            }
        });
        return binding;
    }

    private static ObjectNode message(Topic<?> topic) {
        ObjectNode message = JSON.createObjectNode();
        String record = topic.recordName();
        message.put("name", WireSchemas.NAMESPACE + "." + record);
        message.put("title", record);
        message.put("summary", WireSchemas.of(record).getDoc());
        message.put("contentType", CloudEventHeaders.CONTENT_TYPE);
        message.putArray("traits").add(reference("messageTraits", "cloudEvent"));
        ObjectNode payload = message.putObject("payload");
        payload.put("schemaFormat", AVRO);
        payload.set("schema", avro(record));
        ObjectNode binding = JSON.createObjectNode();
        binding.set("key", text("What the record is about: " + topic.key() + "."));
        binding.put("schemaIdLocation", "payload");
        binding.put("schemaIdPayloadEncoding", "confluent");
        binding.put("schemaLookupStrategy", "TopicNameStrategy");
        message.set("bindings", kafka(binding));
        return message;
    }

    private static JsonNode avro(String record) {
        try {
            return JSON.readTree(WireSchemas.of(record).toString());
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ObjectNode deadLetters(TopicDefinition definition) {
        ObjectNode channel = JSON.createObjectNode();
        channel.put("address", CATALOGUE.prefix() + "{topic}-dlq");
        channel.put("description", "Records that were refused, with their origin and the reason in headers.");
        ArrayNode topics = channel.putObject("parameters")
                .putObject("topic")
                .put("description", "The topic that the record was read from, without the prefix.")
                .putArray("enum");
        TopicCatalogue.ALL.forEach(topic -> topics.add(topic.suffix()));
        channel.putObject("messages").set("DeadLetter", reference("messages", "DeadLetter"));
        channel.set("bindings", kafka(topicBinding(definition)));
        return channel;
    }

    private static ObjectNode deadLetter() {
        ObjectNode message = JSON.createObjectNode();
        message.put("title", "DeadLetter");
        message.put(
                "summary", "A record that could not be read: its key, value and headers, and what was wrong with it.");
        message.put("contentType", "application/octet-stream");
        ObjectNode headers = object(message.putObject("headers"));
        headers.set("lendstream.origin.topic", text("Where it was read from."));
        headers.set("lendstream.origin.partition", text("The partition."));
        headers.set("lendstream.origin.offset", text("The offset."));
        headers.set("lendstream.origin.timestamp", text("Its timestamp in Kafka, in milliseconds since 1970."));
        headers.set("lendstream.error.class", text("The kind of error."));
        headers.set("lendstream.error.message", text("What was wrong with it."));
        headers.set("lendstream.error.service", text("The service that could not read it."));
        return message;
    }

    private static ObjectNode cloudEvent() {
        ObjectNode trait = JSON.createObjectNode();
        ObjectNode headers = object(trait.putObject("headers"));
        headers.set("ce_specversion", text("Always " + CloudEventHeaders.SPEC_VERSION + "."));
        headers.set("ce_id", text("Unique for the source."));
        headers.set("ce_source", text("Who says it, such as /lendstream/scheduler/east."));
        headers.set("ce_type", text("What it is, such as io.lendstream.Decision."));
        headers.set("ce_time", text("When it happened, in the form of RFC 3339."));
        headers.set("content-type", text("Always " + CloudEventHeaders.CONTENT_TYPE + "."));
        return trait;
    }

    private static ObjectNode object(ObjectNode schema) {
        return schema.put("type", "object").putObject("properties");
    }

    private static ObjectNode text(String description) {
        return JSON.createObjectNode().put("type", "string").put("description", description);
    }

    private static ObjectNode kafka(ObjectNode binding) {
        binding.put("bindingVersion", BINDING_VERSION);
        ObjectNode bindings = JSON.createObjectNode();
        bindings.set("kafka", binding);
        return bindings;
    }

    private static ObjectNode reference(String kind, String name) {
        return JSON.createObjectNode().put("$ref", "#/components/%s/%s".formatted(kind, name));
    }

    private static String sentence(String content) {
        return Character.toUpperCase(content.charAt(0)) + content.substring(1) + ".";
    }
}
