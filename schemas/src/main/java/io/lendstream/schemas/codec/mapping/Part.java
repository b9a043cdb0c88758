package io.lendstream.schemas.codec.mapping;

import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** Maps a component of a record to one field, or to several fields of the same wire record. */
sealed interface Part permits ComponentMapping, GroupMapping {
    /** Writes a component's value into its fields. */
    void write(Object value, GenericData.Record wire);

    /** Reads the component's value from its fields. */
    Object read(IndexedRecord wire);
}
