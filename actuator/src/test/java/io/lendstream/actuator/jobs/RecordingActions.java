package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Keeps what the membership protocol asks, each action as a line, and the messages to each worker. */
final class RecordingActions implements MembershipActions {
    private final List<String> lines = new ArrayList<>();
    private final Map<String, List<ObjectNode>> messages = new HashMap<>();
    private final Supplier<MembershipState> state;

    RecordingActions(Supplier<MembershipState> state) {
        this.state = state;
    }

    /** The lines since the last call. */
    List<String> take() {
        List<String> taken = List.copyOf(lines);
        lines.clear();
        return taken;
    }

    /** The messages that a worker has got since the last call. */
    List<ObjectNode> takeMessages(String worker) {
        List<ObjectNode> taken = messages.remove(worker);
        return taken == null ? List.of() : taken;
    }

    @Override
    public void send(String worker, ObjectNode message) {
        messages.computeIfAbsent(worker, any -> new ArrayList<>()).add(received(message));
        StringBuilder line = new StringBuilder("%s < %s %d"
                .formatted(
                        worker,
                        message.path("type").asText(),
                        message.path("epoch").asLong()));
        if (message.has("rank")) {
            line.append(" %s %d/%d"
                    .formatted(
                            message.path("kind").asText(),
                            message.path("rank").asInt(),
                            message.path("size").asInt()));
        }
        if (message.path("leave").asBoolean()) {
            line.append(message.path("checkpoint").asBoolean() ? " leave with checkpoint" : " leave");
        }
        lines.add(line.toString());
    }

    /** The message as it arrives, so that numbers are compared as they are written. */
    private static ObjectNode received(ObjectNode message) {
        return MembershipFixture.json(message.toString());
    }

    @Override
    public void kill(String worker) {
        lines.add("kill " + worker);
    }

    @Override
    public void setDeadline(String worker, long nanos) {
        lines.add("%s ends by %d s".formatted(worker, nanos / 1_000_000_000));
    }

    @Override
    public void clearDeadline(String worker) {
        lines.add("%s lives".formatted(worker));
    }

    @Override
    public void openStore(long epoch) {
        lines.add("store %d".formatted(epoch));
    }

    @Override
    public void endStore() {
        lines.add("no store");
    }

    @Override
    public void save() {
        MembershipState now = state.get();
        lines.add("save %d %s%s"
                .formatted(
                        now.epoch(),
                        now.members(),
                        now.pending()
                                .map(left -> ", then %s %s".formatted(left.kind(), left.members()))
                                .orElse("")));
    }

    @Override
    public void bound(List<Slot> slots) {
        lines.add("bound " + gpus(slots));
    }

    @Override
    public void settle(ChangeTimings timings) {
        lines.add("settle after %s%s"
                .formatted(
                        timings.sinceAsked(),
                        timings.pause().map(pause -> ", pause " + pause).orElse("")));
    }

    @Override
    public void recovered(List<Slot> lost, ChangeTimings timings) {
        lines.add("recovered without %s after %s".formatted(gpus(lost), timings.sinceAsked()));
    }

    private static String gpus(List<Slot> slots) {
        return slots.stream().map(Slot::gpu).map(GpuId::value).collect(Collectors.joining("+"));
    }
}
