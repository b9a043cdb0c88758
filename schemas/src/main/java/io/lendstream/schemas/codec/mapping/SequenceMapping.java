package io.lendstream.schemas.codec.mapping;

import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;

/** A list. */
record SequenceMapping(Schema schema, Mapping element, FieldBound guard, int most) implements Mapping {
    @Override
    public Object encode(Object value) {
        List<?> list = (List<?>) value;
        List<Object> wire = new GenericData.Array<>(list.size(), schema);
        list.forEach(one -> wire.add(element.encode(one)));
        return wire;
    }

    @Override
    public Object decode(Object wire) {
        List<?> list = (List<?>) wire;
        int size = list.size() <= most ? list.size() : guard.entries(list.size(), most);
        List<Object> value = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            value.add(element.decode(list.get(i)));
        }
        return value;
    }
}
