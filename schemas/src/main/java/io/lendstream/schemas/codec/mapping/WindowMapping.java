package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.RequestRate;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.IndexedRecord;

/** Clamps a window as a whole: its length is kept, because it determines the request rate. */
record WindowMapping(StructureMapping rate, int start, int end) implements Mapping {
    @Override
    public Object encode(Object value) {
        return rate.encode(value);
    }

    @Override
    public Object decode(Object wire) {
        IndexedRecord record = (IndexedRecord) wire;
        Limits.Whole bounds = Limits.times(RequestRate.class, "windowEnd");
        if (record.get(end) instanceof Long till
                && record.get(start) instanceof Long from
                && from < till
                && !bounds.includes(till)) {
            long length = Math.min(Limits.LONGEST_WINDOW.toMillis(), till - from > 0 ? till - from : Long.MAX_VALUE);
            Clamped.count("RequestRate", "windowEnd");
            long nearest = Math.max(bounds.nearest(till), bounds.least() - 1 + length);
            GenericData.Record shifted = new GenericData.Record((GenericData.Record) record, false);
            shifted.put(start, nearest - length);
            shifted.put(end, nearest);
            return rate.decode(shifted);
        }
        return rate.decode(record);
    }
}
