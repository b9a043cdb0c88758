package io.lendstream.agent.gpu.nvml;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The XID errors of a machine's GPUs since the agent's start: NVML does not report earlier ones. It survives a
 * release of the driver. For one thread.
 */
final class Xids {
    static final Duration WINDOW = Duration.ofMinutes(5);

    /** More errors than this in five minutes are not counted. */
    private static final int MOST = 10_000;

    /**
     * One error.
     *
     * @param instance driver number of the MIG instance; empty for an error of the whole GPU
     */
    record Xid(String uuid, OptionalInt instance, int number, Instant at) {}

    /** The error data of a sample. */
    record Told(Optional<Xid> last, int inWindow) {}

    private final Deque<Xid> recent = new ArrayDeque<>();
    private final Map<String, List<Xid>> lastByGpu = new HashMap<>();

    void add(Xid xid) {
        if (recent.size() >= MOST) {
            recent.removeFirst();
        }
        recent.add(xid);
        List<Xid> last = lastByGpu.computeIfAbsent(xid.uuid, added -> new ArrayList<>());
        last.removeIf(older -> older.instance.equals(xid.instance));
        last.add(xid);
    }

    /** The errors of a GPU and of all its instances. */
    Told of(String uuid, Instant now) {
        return told(uuid, OptionalInt.empty(), now);
    }

    /** The errors of an instance, and errors of its GPU without an instance, which affect all instances. */
    Told of(String uuid, int instance, Instant now) {
        return told(uuid, OptionalInt.of(instance), now);
    }

    private Told told(String uuid, OptionalInt instance, Instant now) {
        for (Iterator<Xid> old = recent.iterator(); old.hasNext(); ) {
            if (!old.next().at.isBefore(now.minus(WINDOW))) {
                break;
            }
            old.remove();
        }
        int count = 0;
        for (Xid xid : recent) {
            count += xid.uuid.equals(uuid) && concerns(xid, instance) ? 1 : 0;
        }
        Optional<Xid> last = Optional.empty();
        for (Xid xid : lastByGpu.getOrDefault(uuid, List.of())) {
            if (concerns(xid, instance)) {
                last = Optional.of(xid); // in order of arrival
            }
        }
        return new Told(last, count);
    }

    private static boolean concerns(Xid xid, OptionalInt instance) {
        return instance.isEmpty() || xid.instance.isEmpty() || xid.instance.equals(instance);
    }

    /** The driver reuses numbers of instances: a new instance has not had the errors of the old one. */
    void forgetInstance(String uuid, int instance) {
        recent.removeIf(xid -> xid.uuid.equals(uuid) && xid.instance.equals(OptionalInt.of(instance)));
        lastByGpu.getOrDefault(uuid, new ArrayList<>()).removeIf(xid -> xid.instance.equals(OptionalInt.of(instance)));
    }
}
