package io.lendstream.schemas.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.schemas.codec.RecordMapper;
import io.lendstream.schemas.codec.SchemaDerivation;
import io.lendstream.schemas.serde.AvroBytes;
import java.io.IOException;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.avro.Schema;

/** Encodes and decodes the entries of snapshots. */
final class EntryCodecs {
    private static final Map<SnapshotEntry, RecordMapper<?>> MAPPERS = mappers();
    private static final Map<SnapshotEntry, Set<String>> NAMES = names();

    private static final Map<SnapshotEntry, byte[]> TEXTS = texts();

    private EntryCodecs() {}

    /** The schema as JSON. */
    static byte[] text(SnapshotEntry kind) {
        return Objects.requireNonNull(TEXTS.get(kind));
    }

    static Schema schema(SnapshotEntry kind) {
        return mapper(kind).schema();
    }

    @SuppressWarnings("unchecked") // the caller has an entry of this kind
    static byte[] write(SnapshotEntry kind, Object entry) {
        return AvroBytes.write(((RecordMapper<Object>) mapper(kind)).encode(entry));
    }

    static <T> T read(SnapshotEntry kind, Class<T> type, byte[] entry, Schema writer) throws IOException {
        RecordMapper<?> mapper = mapper(kind);
        return type.cast(mapper.decode(AvroBytes.read(entry, writer, mapper.schema())));
    }

    /** Names of fields and symbols in a writer's schema that this version lacks: their values would be lost. */
    static Set<String> unknown(SnapshotEntry kind, Schema writer) {
        Set<String> unknown = names(writer);
        unknown.removeAll(NAMES.getOrDefault(kind, Set.of()));
        return unknown;
    }

    private static RecordMapper<?> mapper(SnapshotEntry kind) {
        return Objects.requireNonNull(MAPPERS.get(kind));
    }

    private static Map<SnapshotEntry, RecordMapper<?>> mappers() {
        Map<SnapshotEntry, RecordMapper<?>> mappers = new EnumMap<>(SnapshotEntry.class);
        for (SnapshotEntry kind : SnapshotEntry.values()) {
            mappers.put(kind, RecordMapper.of(kind.type(), SchemaDerivation.of(kind.type())));
        }
        return mappers;
    }

    private static Map<SnapshotEntry, byte[]> texts() {
        Map<SnapshotEntry, byte[]> texts = new EnumMap<>(SnapshotEntry.class);
        MAPPERS.forEach(
                (kind, mapper) -> texts.put(kind, mapper.schema().toString().getBytes(UTF_8)));
        return texts;
    }

    private static Map<SnapshotEntry, Set<String>> names() {
        Map<SnapshotEntry, Set<String>> names = new EnumMap<>(SnapshotEntry.class);
        MAPPERS.forEach((kind, mapper) -> names.put(kind, names(mapper.schema())));
        return names;
    }

    private static Set<String> names(Schema schema) {
        Set<String> names = new HashSet<>();
        collect(schema, names, new HashSet<>());
        return names;
    }

    private static void collect(Schema schema, Set<String> names, Set<String> seen) {
        switch (schema.getType()) {
            case RECORD -> {
                if (seen.add(schema.getFullName())) {
                    for (Schema.Field field : schema.getFields()) {
                        names.add(schema.getName() + "." + field.name());
                        collect(field.schema(), names, seen);
                    }
                }
            }
            case ENUM -> schema.getEnumSymbols().forEach(symbol -> names.add(schema.getName() + "." + symbol));
            case ARRAY -> collect(schema.getElementType(), names, seen);
            case MAP -> collect(schema.getValueType(), names, seen);
            case UNION -> schema.getTypes().forEach(branch -> collect(branch, names, seen));
            default -> {
                // A value without names.
            }
        }
    }
}
