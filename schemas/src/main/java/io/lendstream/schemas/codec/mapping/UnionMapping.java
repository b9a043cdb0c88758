package io.lendstream.schemas.codec.mapping;

import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** Maps a union of records. */
record UnionMapping(
        Schema schema,
        int kindPosition,
        Map<Class<?>, CaseMapping> byType,
        Map<String, CaseMapping> byKind,
        Map<Integer, Object> defaults,
        Optional<Object> unknown,
        String path)
        implements Mapping {
    @Override
    public Object encode(Object value) {
        CaseMapping chosen = byType.get(value.getClass());
        if (chosen == null) {
            throw new IllegalStateException(path + " is of no known case: " + value.getClass());
        }
        GenericData.Record wire = new GenericData.Record(schema);
        defaults.forEach(wire::put);
        wire.put(kindPosition, chosen.kind());
        chosen.field()
                .ifPresent(field -> wire.put(field.position(), chosen.mapping().encode(value)));
        return wire;
    }

    @Override
    public Object decode(Object wire) {
        if (unknown.isEmpty()) {
            return known(wire);
        }
        try {
            return known(wire);
        } catch (UnknownKindException e) { // the kind of this value, or of a nested one
            return unknown.get();
        }
    }

    private Object known(Object wire) {
        IndexedRecord record = (IndexedRecord) wire;
        String kind = record.get(kindPosition).toString();
        CaseMapping chosen = byKind.get(kind);
        if (chosen == null) {
            throw new UnknownKindException(
                    "%s is of a kind that this version does not know; a newer version wrote it".formatted(path));
        }
        if (chosen.field().isEmpty()) {
            return chosen.mapping().decode(record);
        }
        CaseField field = chosen.field().get();
        Object value = record.get(field.position());
        if (value == null) {
            throw new InvalidRecordException(
                    "%s has kind %s, but its field %s is null".formatted(path, kind, field.name()), null);
        }
        return chosen.mapping().decode(value);
    }
}
