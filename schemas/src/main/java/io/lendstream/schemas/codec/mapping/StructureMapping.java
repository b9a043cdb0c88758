package io.lendstream.schemas.codec.mapping;

import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** Maps a record, field by field. */
record StructureMapping(Schema schema, GroupMapping group, Map<Integer, Object> defaults) implements Mapping {
    @Override
    public Object encode(Object value) {
        GenericData.Record wire = new GenericData.Record(schema);
        defaults.forEach(wire::put);
        group.write(value, wire);
        return wire;
    }

    @Override
    public Object decode(Object wire) {
        return group.read((IndexedRecord) wire);
    }
}
