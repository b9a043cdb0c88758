package io.lendstream.schemas.codec.mapping;

import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** A record, field by field. */
record StructureMapping(
        Schema schema,
        RecordAccess structure,
        List<ComponentMapping> components,
        Map<Integer, Object> defaults,
        String path)
        implements Mapping {
    @Override
    public Object encode(Object value) {
        GenericData.Record wire = new GenericData.Record(schema);
        defaults.forEach(wire::put);
        for (int i = 0; i < components.size(); i++) {
            ComponentMapping component = components.get(i);
            wire.put(component.position(), component.mapping().encode(structure.get(i, value)));
        }
        return wire;
    }

    @Override
    public Object decode(Object wire) {
        IndexedRecord record = (IndexedRecord) wire;
        Object[] values = new Object[components.size()];
        for (int i = 0; i < values.length; i++) {
            ComponentMapping component = components.get(i);
            Object value = record.get(component.position());
            if (value == null && !component.optional()) {
                throw new InvalidRecordException(component.path() + " is missing", null);
            }
            values[i] = component.mapping().decode(value);
        }
        return structure.create(path, values);
    }
}
