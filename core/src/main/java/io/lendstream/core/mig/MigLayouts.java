package io.lendstream.core.mig;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All layouts of a kind of GPU; a layout is a set of places, kept as bits. Places must not share a memory slice, and of
 * a profile there are no more than it allows; that compute slices are then not exceeded follows from the places NVIDIA
 * offers.
 *
 * <p>O(states x places) to make, a few hundred by twenty; every question is answered from tables.
 */
public final class MigLayouts {
    private final MigGpu gpu;
    private final List<MigPlace> places = new ArrayList<>();
    private final Map<Integer, Integer> indexOf = new HashMap<>();
    private final List<Integer> states = new ArrayList<>();
    private final List<int[]> counts = new ArrayList<>();
    private final boolean allowsFourAndThree;

    private MigLayouts(MigGpu gpu, boolean allowsFourAndThree) {
        this.gpu = gpu;
        this.allowsFourAndThree = allowsFourAndThree;
        for (MigProfile profile : gpu.profiles()) {
            profile.starts().forEach(start -> places.add(new MigPlace(profile, start)));
        }
        extend(0, 0);
    }

    public static MigLayouts of(MigGpu gpu) {
        return new MigLayouts(gpu, true);
    }

    /** As drivers before R510 allow on A100: 3g and 4g not together. */
    public static MigLayouts beforeR510(MigGpu gpu) {
        return new MigLayouts(gpu, false);
    }

    private void extend(int state, int from) {
        indexOf.put(state, states.size());
        states.add(state);
        counts.add(count(state));
        for (int place = from; place < places.size(); place++) {
            if (fits(state, place)) {
                extend(state | 1 << place, place + 1);
            }
        }
    }

    private boolean fits(int state, int place) {
        MigPlace added = places.get(place);
        int same = 0;
        for (int other = 0; other < places.size(); other++) {
            if ((state & 1 << other) == 0) {
                continue;
            }
            MigPlace there = places.get(other);
            if (other == place || (there.bits() & added.bits()) != 0) {
                return false;
            }
            same += there.profile().equals(added.profile()) ? 1 : 0;
            int compute = there.profile().computeSlices() + added.profile().computeSlices();
            boolean fourAndThree = compute == gpu.computeSlices()
                    && Math.abs(there.profile().computeSlices()
                                    - added.profile().computeSlices())
                            == 1;
            if (fourAndThree && !allowsFourAndThree) {
                return false;
            }
        }
        return same < added.profile().most();
    }

    public MigGpu gpu() {
        return gpu;
    }

    /** Every state, the uncut GPU included; each with its places biggest first. */
    public List<List<MigPlace>> states() {
        return states.stream().map(this::places).toList();
    }

    /** States to which nothing can be added. */
    public List<List<MigPlace>> maximal() {
        return states.stream().filter(this::isMaximal).map(this::places).toList();
    }

    private boolean isMaximal(int state) {
        for (int place = 0; place < places.size(); place++) {
            if ((state & 1 << place) == 0 && fits(state, place)) {
                return false;
            }
        }
        return true;
    }

    /** What a GPU can be cut into, regardless of places, where no other cut has all of it and more; biggest first. */
    public List<List<MigProfile>> cuts() {
        Map<String, int[]> different = new LinkedHashMap<>();
        for (int[] count : counts) {
            different.putIfAbsent(Arrays.toString(count), count);
        }
        List<List<MigProfile>> best = new ArrayList<>();
        for (int[] count : different.values()) {
            if (different.values().stream().noneMatch(other -> exceeds(other, count))) {
                best.add(profiles(count));
            }
        }
        return best;
    }

    private static boolean exceeds(int[] other, int[] count) {
        boolean more = false;
        for (int i = 0; i < count.length; i++) {
            if (other[i] < count[i]) {
                return false;
            }
            more |= other[i] > count[i];
        }
        return more;
    }

    private int[] counts(int state) {
        return counts.get(indexOf.getOrDefault(state, -1));
    }

    /** Places of each profile. */
    private int[] count(int state) {
        int[] count = new int[gpu.profiles().size()];
        places(state).forEach(place -> count[gpu.profiles().indexOf(place.profile())]++);
        return count;
    }

    private List<MigProfile> profiles(int[] count) {
        List<MigProfile> list = new ArrayList<>();
        for (int i = 0; i < count.length; i++) {
            for (int n = 0; n < count[i]; n++) {
                list.add(gpu.profiles().get(i));
            }
        }
        return list;
    }

    private List<MigPlace> places(int state) {
        List<MigPlace> list = new ArrayList<>();
        for (int place = 0; place < places.size(); place++) {
            if ((state & 1 << place) != 0) {
                list.add(places.get(place));
            }
        }
        return list;
    }

    /** Whether a GPU can be cut so. */
    public boolean isLegal(List<MigPlace> layout) {
        int state = 0;
        for (MigPlace place : layout) {
            int index = places.indexOf(place);
            if (index < 0 || (state & 1 << index) != 0) {
                return false;
            }
            state |= 1 << index;
        }
        return indexOf.containsKey(state);
    }

    /**
     * How many more instances of one profile a GPU has room for. Counts of several profiles do not add up: a 3g takes
     * the room of four 1g.
     */
    public int remaining(List<MigPlace> layout, MigProfile profile) {
        int state = state(layout);
        int count = 0;
        for (int place = 0; place < places.size(); place++) {
            if (places.get(place).profile().equals(profile) && (state & 1 << place) == 0 && fits(state, place)) {
                state |= 1 << place;
                count++;
            }
        }
        return count;
    }

    /**
     * The places for more instances, biggest first. NVML needs explicit places, because by itself the driver puts small
     * instances where big ones would have fitted. The choice leaves the rest of the GPU the most ways to be cut.
     *
     * @param layout the instances that exist and stay
     * @return a place for each, in the order of creation; empty if there is no room for all
     */
    public Optional<List<MigPlace>> place(List<MigPlace> layout, List<MigProfile> more) {
        int before = state(layout);
        int best = -1;
        long bestRoom = -1;
        int[] target = counted(more);
        int[] there = counts(before);
        for (int i = 0; i < target.length; i++) {
            target[i] += there[i];
        }
        for (int state : states) {
            if ((state & before) == before && Arrays.equals(counts(state), target)) {
                long room = room(state);
                if (room > bestRoom) {
                    best = state;
                    bestRoom = room;
                }
            }
        }
        return best < 0 ? Optional.empty() : Optional.of(places(best & ~before));
    }

    /**
     * Every layout of just these profiles, the one that leaves room for most first; none where no GPU can be cut so.
     */
    public List<List<MigPlace>> layouts(List<MigProfile> profiles) {
        int[] target = counted(profiles);
        Map<Integer, Long> rooms = new LinkedHashMap<>();
        for (int state : states) {
            if (Arrays.equals(counts(state), target)) {
                rooms.put(state, room(state));
            }
        }
        return rooms.entrySet().stream()
                .sorted(Map.Entry.<Integer, Long>comparingByValue().reversed())
                .map(entry -> places(entry.getKey()))
                .toList();
    }

    private int[] counted(List<MigProfile> wanted) {
        int[] count = new int[gpu.profiles().size()];
        for (MigProfile profile : wanted) {
            int index = gpu.profiles().indexOf(profile);
            if (index < 0) {
                throw new IllegalArgumentException(
                        "%s has no MIG profile %s; it has %s".formatted(gpu.model(), profile.name(), names()));
            }
            count[index]++;
        }
        return count;
    }

    /** The most compute slices that could still be added; then how many ways there are to go on. */
    private long room(int state) {
        int most = 0;
        int ways = 0;
        for (int other : states) {
            if ((other & state) == state) {
                ways++;
                most = Math.max(most, computeSlices(other));
            }
        }
        return 1_000_000L * most + ways;
    }

    private int computeSlices(int state) {
        int sum = 0;
        int[] count = counts(state);
        for (int profile = 0; profile < count.length; profile++) {
            sum += count[profile] * gpu.profiles().get(profile).computeSlices();
        }
        return sum;
    }

    private int state(List<MigPlace> layout) {
        BitSet bits = new BitSet();
        for (MigPlace place : layout) {
            bits.set(places.indexOf(place));
        }
        int state = bits.isEmpty() ? 0 : (int) bits.toLongArray()[0];
        if (!indexOf.containsKey(state)) {
            throw new IllegalArgumentException("%s cannot be cut into %s".formatted(gpu.model(), layout));
        }
        return state;
    }

    private List<String> names() {
        return gpu.profiles().stream().map(MigProfile::name).toList();
    }
}
