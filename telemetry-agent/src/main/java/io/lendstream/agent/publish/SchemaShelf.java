package io.lendstream.agent.publish;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.SchemaParseException;

/**
 * The writer schemas of queued records, by fingerprint. They are kept beside the records, so a newer agent version
 * can read records of an older one.
 */
final class SchemaShelf {
    private final Optional<Path> directory;
    private final Map<Long, Schema> known = new HashMap<>();

    private SchemaShelf(Optional<Path> directory) {
        this.directory = directory;
    }

    static SchemaShelf inMemory() {
        var shelf = new SchemaShelf(Optional.empty());
        TopicCatalogue.ALL.forEach(topic -> shelf.known.put(fingerprint(Codecs.schema(topic)), Codecs.schema(topic)));
        return shelf;
    }

    /** With schemas on disk, including this version's own. */
    static SchemaShelf in(Path directory) throws IOException {
        var shelf = new SchemaShelf(Optional.of(directory));
        shelf.known.putAll(inMemory().known);
        for (Map.Entry<Long, Schema> schema : shelf.known.entrySet()) {
            Path file = file(directory, schema.getKey());
            if (!Files.exists(file)) {
                Path part = directory.resolve("schema.part");
                Files.writeString(part, schema.getValue().toString());
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return shelf;
    }

    Schema byFingerprint(long fingerprint) throws IOException {
        Schema schema = known.get(fingerprint);
        if (schema != null) {
            return schema;
        }
        Path file = file(
                directory.orElseThrow(() -> new IOException("no schema has the fingerprint " + fingerprint)),
                fingerprint);
        try {
            Schema read = new Schema.Parser().parse(Files.readString(file));
            known.put(fingerprint, read);
            return read;
        } catch (SchemaParseException e) {
            throw new IOException("%s is not a schema: %s".formatted(file, e.getMessage()), e);
        }
    }

    static long fingerprint(Schema schema) {
        return SchemaNormalization.parsingFingerprint64(schema);
    }

    private static Path file(Path directory, long fingerprint) {
        return directory.resolve("%016x.avsc".formatted(fingerprint));
    }
}
