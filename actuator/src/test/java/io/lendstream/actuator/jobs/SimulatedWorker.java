package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** A worker that follows the membership protocol as the package {@code lendstream_afe} does, one action at a time. */
final class SimulatedWorker {
    private final String name;
    private final List<Slot> slots;
    private Member.Phase phase = Member.Phase.STARTING;
    private boolean isAlive = true;
    private long step = -1;
    private long seat;
    private long passed;
    private long done;
    private long aborted;
    private long committed;
    private boolean leaves;
    private boolean isFull = true;
    private Optional<ObjectNode> owed = Optional.empty();
    private final TreeSet<Long> building = new TreeSet<>();
    private final TreeSet<Long> built = new TreeSet<>();
    private final Map<Long, String> kinds = new HashMap<>();
    private final Map<Long, Integer> sizes = new HashMap<>();

    SimulatedWorker(String name, List<Slot> slots) {
        this.name = name;
        this.slots = slots;
    }

    String name() {
        return name;
    }

    List<Slot> slots() {
        return slots;
    }

    boolean isAlive() {
        return isAlive;
    }

    void end() {
        isAlive = false;
    }

    /** The epoch in whose group it trains; 0 if in none. */
    long seat() {
        return seat;
    }

    void receive(ObjectNode message) {
        long epoch = message.path("epoch").asLong();
        switch (message.path("type").asText()) {
            case "prepare" -> {
                kinds.put(epoch, message.path("kind").asText());
                sizes.put(epoch, message.path("size").asInt());
                built.removeIf(each -> each != passed && each != committed);
                building.add(epoch);
            }
            case "commit" -> {
                if (epoch > passed) {
                    committed = epoch;
                    leaves = message.path("leave").asBoolean();
                }
            }
            case "done" -> done = epoch;
            case "abort" -> abort(epoch);
            default -> end();
        }
    }

    private void abort(long epoch) {
        aborted = Math.max(aborted, epoch);
        building.removeIf(each -> each <= aborted);
        built.removeIf(each -> each <= aborted);
        if (committed <= aborted) {
            committed = 0;
        }
        owed = Optional.of(message("aborted", epoch).put("phase", phase.name().toLowerCase(Locale.ROOT)));
    }

    /**
     * Does what it can do next; returns what it says, if anything.
     *
     * @param peers all workers of the job, of whom those with the same seat take each step together
     */
    Optional<ObjectNode> act(Iterable<SimulatedWorker> peers) {
        if (owed.isPresent()) {
            Optional<ObjectNode> said = owed;
            owed = Optional.empty();
            return said;
        }
        if (phase == Member.Phase.STARTING) {
            phase = Member.Phase.READY;
            return Optional.of(message("ready", 0));
        }
        if (phase == Member.Phase.TRAINING && aborted >= Math.max(seat, passed)) {
            ObjectNode broken = message("broken", seat).put("step", step);
            seat = 0;
            phase = Member.Phase.BROKEN;
            return Optional.of(broken);
        }
        if (!building.isEmpty()) {
            long epoch = building.pollFirst();
            built.add(epoch);
            return Optional.of(message("prepared", epoch));
        }
        return move(peers);
    }

    private Optional<ObjectNode> move(Iterable<SimulatedWorker> peers) {
        switch (phase) {
            case READY, BROKEN -> {
                for (long epoch : built) {
                    if (!"change".equals(kinds.get(epoch)) || epoch == committed) {
                        phase = Member.Phase.TRAINING;
                        return Optional.of(passInto(epoch));
                    }
                }
            }
            case TRAINING -> {
                if (seat == 0 && built.remove(passed)) {
                    seat = passed;
                } else if (seat > 0 && committed > passed && allKnow(peers)) {
                    step++;
                    return Optional.of(switchTo(committed));
                } else if (seat > 0 && !isFull && isWhole(peers)) {
                    isFull = true;
                    return Optional.of(message("full", seat).put("nanos", 1));
                }
            }
            default -> isAlive = done < passed; // it leaves when its last step is passed
        }
        return Optional.empty();
    }

    private ObjectNode passInto(long epoch) {
        built.remove(epoch);
        seat = epoch;
        passed = epoch;
        committed = 0;
        isFull = false;
        return message("boundary", epoch).put("step", step);
    }

    private ObjectNode switchTo(long epoch) {
        if (!leaves && built.contains(epoch)) {
            return passInto(epoch);
        }
        seat = 0;
        passed = epoch;
        committed = 0;
        isFull = false;
        if (leaves) {
            phase = Member.Phase.LEAVING;
        }
        return message("boundary", epoch).put("step", step);
    }

    /** Whether all with the same seat know of the commit, or have passed already. */
    private boolean allKnow(Iterable<SimulatedWorker> peers) {
        for (SimulatedWorker peer : peers) {
            if (peer.seat == seat && (!peer.isAlive || peer.committed < committed)) {
                return false;
            }
        }
        return true;
    }

    /** Whether all ranks of both groups have passed, so that those of its group take a step together. */
    private boolean isWhole(Iterable<SimulatedWorker> peers) {
        int present = 0;
        for (SimulatedWorker peer : peers) {
            present += peer.seat == seat ? 1 : 0;
            if (peer.seat > 0 && peer.seat < seat) {
                return false;
            }
        }
        return present == sizes.get(seat);
    }

    private static ObjectNode message(String type, long epoch) {
        return Frames.JSON.createObjectNode().put("type", type).put("epoch", epoch);
    }
}
