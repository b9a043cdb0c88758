package io.lendstream.schemas.codec.mapping;

import io.lendstream.core.persistent.PersistentMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Maps a map with text keys, in key order. */
record DictionaryMapping(boolean persistent, Mapping key, Mapping value, FieldBound guard, int most)
        implements Mapping {
    @Override
    public Object encode(Object map) {
        Map<String, Object> sorted = new TreeMap<>();
        if (map instanceof PersistentMap<?, ?> entries) {
            for (Map.Entry<?, ?> entry : entries) {
                sorted.put((String) key.encode(entry.getKey()), value.encode(entry.getValue()));
            }
        } else {
            ((Map<?, ?>) map).forEach((k, v) -> sorted.put((String) key.encode(k), value.encode(v)));
        }
        return sorted;
    }

    @Override
    public Object decode(Object wire) {
        TreeMap<String, Object> sorted = new TreeMap<>();
        ((Map<?, ?>) wire).forEach((k, v) -> sorted.put(k.toString(), v));
        if (sorted.size() > most) {
            guard.entries(sorted.size(), most);
            while (sorted.size() > most) {
                sorted.pollLastEntry();
            }
        }
        if (persistent) {
            return persistentMap(sorted);
        }
        Map<Object, Object> map = new LinkedHashMap<>();
        sorted.forEach((k, v) -> map.put(key.decode(k), value.decode(v)));
        return map;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // the component's type guarantees comparable keys
    private Object persistentMap(Map<String, Object> sorted) {
        PersistentMap map = PersistentMap.empty();
        for (Map.Entry<String, Object> entry : sorted.entrySet()) {
            map = map.put((Comparable) key.decode(entry.getKey()), value.decode(entry.getValue()));
        }
        return map;
    }
}
