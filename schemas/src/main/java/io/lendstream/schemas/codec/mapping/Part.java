package io.lendstream.schemas.codec.mapping;

import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** What a component of a record is on the wire: one field, or several of the same wire record. */
sealed interface Part permits ComponentMapping, GroupMapping {
    /** Puts a component's value into its fields. */
    void write(Object value, GenericData.Record wire);

    /** The component's value, from its fields. */
    Object read(IndexedRecord wire);
}
