package io.lendstream.schemas.codec.mapping;

import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** Maps a component of a record, and knows the position of its field. */
record ComponentMapping(String path, int position, boolean optional, Mapping mapping) implements Part {
    @Override
    public void write(Object value, GenericData.Record wire) {
        wire.put(position, mapping.encode(value));
    }

    @Override
    public Object read(IndexedRecord wire) {
        Object value = wire.get(position);
        if (value == null && !optional) {
            throw new InvalidRecordException(path + " is missing", null);
        }
        return mapping.decode(value);
    }
}
