package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Waits for XID errors on a thread of its own, so that reads never wait. Ends itself when the driver goes. */
final class XidListener {
    private static final long XID_CRITICAL_ERROR = 8;
    private static final int NO_INSTANCE = -1;
    private static final long TYPE_AT = 8;
    private static final long DATA_AT = 16;
    private static final long INSTANCE_AT = 24;
    private static final int EVENT_BYTES = 32;

    /** The longest time that closing may take, and the wake-up period of an idle thread. */
    private static final Duration TURN = Duration.ofMillis(250);

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /**
     * A received error.
     *
     * @param nanos time by {@link System#nanoTime}
     */
    record Heard(String uuid, OptionalInt instance, int number, long nanos) {}

    private final Library library;
    private final Pointer set;
    private final Map<Pointer, String> uuids;
    private final ConcurrentLinkedQueue<Heard> heard = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile boolean closed;

    private XidListener(Library library, Pointer set, Map<Pointer, String> uuids) {
        this.library = library;
        this.set = set;
        this.uuids = uuids;
        this.thread = new Thread(this::listen, "nvml-xids");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Starts to listen to GPUs.
     *
     * @param uuids by handle; GPUs that support it are left in {@code audible}
     * @return empty if no GPU supports it
     */
    static Optional<XidListener> listenTo(
            Library library, Map<Pointer, String> uuids, List<String> audible, Troubles troubles) {
        var created = new PointerByReference();
        Code code = library.call("nvmlEventSetCreate", created);
        if (!code.isSuccess()) {
            troubles.tell("events", "nvmlEventSetCreate", code);
            return Optional.empty();
        }
        Map<Pointer, String> registered = new HashMap<>();
        uuids.forEach((handle, uuid) -> {
            Code answer = library.call("nvmlDeviceRegisterEvents", handle, XID_CRITICAL_ERROR, created.getValue());
            if (answer.isSuccess()) {
                registered.put(handle, uuid);
                audible.add(uuid);
            } else {
                troubles.tell(uuid, "nvmlDeviceRegisterEvents", answer);
            }
        });
        if (registered.isEmpty()) {
            library.call("nvmlEventSetFree", created.getValue());
            return Optional.empty();
        }
        return Optional.of(new XidListener(library, created.getValue(), registered));
    }

    private void listen() {
        Memory event = new Memory(EVENT_BYTES);
        while (!closed) {
            event.setInt(INSTANCE_AT, NO_INSTANCE); // older drivers do not fill it in
            Code code = library.call("nvmlEventSetWait_v2", set, event, (int) TURN.toMillis());
            if (code == Code.FUNCTION_NOT_FOUND) {
                code = library.call("nvmlEventSetWait", set, event, (int) TURN.toMillis());
            }
            if (code.isSuccess()) {
                take(event);
            } else if (code.meaning() == Code.Meaning.DRIVER_GONE || code == Code.FUNCTION_NOT_FOUND) {
                return;
            } else if (code != Code.TIMEOUT && !rested()) { // such as a lost GPU: others may still report errors
                return;
            }
        }
    }

    private void take(Memory event) {
        String uuid = uuids.get(event.getPointer(0));
        if (uuid != null && event.getLong(TYPE_AT) == XID_CRITICAL_ERROR) {
            int instance = event.getInt(INSTANCE_AT);
            heard.add(new Heard(
                    uuid,
                    instance == NO_INSTANCE ? OptionalInt.empty() : OptionalInt.of(instance),
                    (int) event.getLong(DATA_AT),
                    System.nanoTime()));
        }
    }

    private static boolean rested() {
        try {
            Thread.sleep(TURN.toMillis());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The errors since the last call, in order. */
    List<Heard> drain() {
        var all = new ArrayList<Heard>();
        for (Heard next = heard.poll(); next != null; next = heard.poll()) {
            all.add(next);
        }
        return all;
    }

    /**
     * Stops listening and frees the event set. If the driver does not return from a wait, the set is not freed:
     * freeing it while another thread waits on it would crash the process.
     *
     * @return whether nothing here uses NVML any longer
     */
    boolean stop() {
        closed = true;
        try {
            thread.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            return false;
        }
        library.call("nvmlEventSetFree", set);
        return true;
    }
}
