package io.lendstream.core.persistent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class PersistentMapTest {
    @Property
    void behavesLikeATreeMap(@ForAll @Size(max = 300) List<@IntRange(min = -60, max = 60) Integer> changes) {
        PersistentMap<Integer, Integer> map = PersistentMap.empty();
        TreeMap<Integer, Integer> expected = new TreeMap<>();
        for (int i = 0; i < changes.size(); i++) {
            int key = Math.abs(changes.get(i));
            if (changes.get(i) < 0) {
                map = map.remove(key);
                expected.remove(key);
            } else {
                map = map.put(key, i);
                expected.put(key, i);
            }
            assertThat(map.size()).isEqualTo(expected.size());
        }
        assertThat(map.stream()).containsExactlyElementsOf(expected.values());
        assertThat(map).extracting(java.util.Map.Entry::getKey).containsExactlyElementsOf(expected.keySet());
    }

    @Property
    void canBeReadFromAKeyOn(
            @ForAll @Size(max = 100) List<@IntRange(max = 60) Integer> keys, @ForAll @IntRange(max = 61) int first) {
        PersistentMap<Integer, Integer> map = PersistentMap.empty();
        TreeMap<Integer, Integer> expected = new TreeMap<>();
        for (int key : keys) {
            map = map.put(key, key);
            expected.put(key, key);
        }

        assertThat(map.from(key -> key >= first))
                .extracting(java.util.Map.Entry::getKey)
                .containsExactlyElementsOf(expected.tailMap(first).keySet());
    }

    @Property
    void aChangeLeavesTheOldMapAlone(@ForAll @Size(min = 1, max = 50) List<@IntRange(max = 40) Integer> keys) {
        PersistentMap<Integer, Integer> map = PersistentMap.empty();
        for (int key : keys) {
            map = map.put(key, key);
        }
        String before = map.toString();

        map.put(keys.get(0), -1);
        map.remove(keys.get(0));

        assertThat(map).hasToString(before);
    }
}
