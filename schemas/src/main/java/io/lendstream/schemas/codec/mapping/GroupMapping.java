package io.lendstream.schemas.codec.mapping;

import java.util.List;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** Maps a record's components to fields of a wire record that may have other fields too. */
record GroupMapping(RecordAccess structure, List<Part> parts, String path) implements Part {
    @Override
    public void write(Object value, GenericData.Record wire) {
        for (int i = 0; i < parts.size(); i++) {
            parts.get(i).write(structure.get(i, value), wire);
        }
    }

    @Override
    public Object read(IndexedRecord wire) {
        Object[] values = new Object[parts.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = parts.get(i).read(wire);
        }
        return structure.create(path, values);
    }
}
