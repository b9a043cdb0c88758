package io.lendstream.core.persistent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

class PersistentMapTest {
    @Seeds
    void behavesLikeATreeMap(RandomValues values) {
        List<Integer> changes = values.listOf(0, 300, () -> values.intBetween(-60, 60));
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

    @Seeds
    void hashedMapsAndThoseBeforeThemHaveTheirOwnEntries(RandomValues values) {
        PersistentMap<Integer, Integer> map =
                PersistentMap.<Integer, Integer>empty().hashed();
        TreeMap<Integer, Integer> expected = new TreeMap<>();
        for (int change : values.listOf(0, 200, () -> values.intBetween(-40, 40))) {
            PersistentMap<Integer, Integer> before = map;
            TreeMap<Integer, Integer> expectedBefore = new TreeMap<>(expected);
            int key = Math.abs(change);
            if (change < 0) {
                map = map.remove(key);
                expected.remove(key);
            } else {
                int value = expected.size();
                map = map.put(key, value);
                expected.put(key, value);
            }
            for (int any = 0; any <= 40; any++) {
                assertThat(map.get(any)).isEqualTo(Optional.ofNullable(expected.get(any)));
                assertThat(map.contains(any)).isEqualTo(expected.containsKey(any));
                assertThat(before.get(any)).isEqualTo(Optional.ofNullable(expectedBefore.get(any)));
            }
        }
        PersistentMap<Integer, Integer> shared = map.shared();
        map.put(1, -1);

        assertThat(shared.stream()).containsExactlyElementsOf(expected.values());
        assertThat(shared.get(1)).isEqualTo(Optional.ofNullable(expected.get(1)));
    }

    @Seeds
    void canBeReadFromAKeyOn(RandomValues values) {
        List<Integer> keys = values.listOf(0, 100, () -> values.intBetween(0, 60));
        int first = values.intBetween(0, 61);
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

    @Seeds
    void aChangeLeavesTheOldMapAlone(RandomValues values) {
        List<Integer> keys = values.listOf(1, 50, () -> values.intBetween(0, 40));
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
