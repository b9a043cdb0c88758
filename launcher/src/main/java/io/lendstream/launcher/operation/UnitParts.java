package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.service.text.Times;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Replicas of several GPUs, and the GPUs that gangs are about to get, put together from the leases of their GPUs. */
final class UnitParts {
    private final Map<ReplicaId, Whole> wholes = new HashMap<>();

    /** GPUs that work only together. Those that are leaving do not count. */
    private static final class Whole {
        private final Set<NodeId> nodes = new HashSet<>();
        private int left;
        private int bound;
        private Optional<Instant> due = Optional.empty();

        private void count(Lease lease, GroupPart part) {
            Owner owner = lease.owner();
            nodes.add(lease.nodeId());
            if (owner.isReleasing()) {
                return;
            }
            left++;
            bound += part.here() || owner.isUp() ? 1 : 0;
            owner.asBinding()
                    .map(Owner.Binding::deadline)
                    .filter(at -> due.filter(at::isBefore).isEmpty())
                    .ifPresent(at -> due = Optional.of(at));
        }
    }

    /** @param leases of all GPUs */
    UnitParts(Collection<Lease> leases) {
        for (Lease lease : leases) {
            lease.part()
                    .ifPresent(part -> wholes.computeIfAbsent(part.replica(), any -> new Whole())
                            .count(lease, part));
        }
    }

    private Optional<Whole> whole(GroupPart part) {
        return Optional.ofNullable(wholes.get(part.replica()));
    }

    /**
     * What a GPU is a part of, such as {@code part of replica prod/3/17#0 of chat, shape tp4 (prefill), 4 GPUs on 2
     * nodes: 3 of 4 GPUs bound, all by ...}; nothing if it is used alone.
     */
    String inWords(Lease lease) {
        Optional<GroupPart> part = lease.part();
        return part.flatMap(this::whole)
                .map(whole -> inWords(lease, part.get(), whole))
                .orElse("");
    }

    /** The same after some characters. */
    String after(String before, Lease lease) {
        String words = inWords(lease);
        return words.isEmpty() ? "" : before + words;
    }

    private static String inWords(Lease lease, GroupPart part, Whole whole) {
        String size =
                "%s on %s".formatted(Reason.counted(part.units(), "GPU"), Reason.counted(whole.nodes.size(), "node"));
        String what = lease.owner()
                .holdingJob()
                .map(job -> "one of %s that gang %s gets together".formatted(size, job))
                .orElseGet(() -> "part of replica %s%s, %s, %s"
                        .formatted(
                                part.replica(),
                                lease.owner()
                                        .holdingService()
                                        .map(service -> " of " + service)
                                        .orElse(""),
                                shape(part.shape(), part.role()),
                                size));
        return what + ": " + progress(part, whole);
    }

    /** A shape and its role, such as {@code shape tp4 (prefill)}. */
    static String shape(String name, ReplicaRole role) {
        return role.isPart() ? "shape %s (%s)".formatted(name, role.inWords()) : "shape " + name;
    }

    private static String progress(GroupPart part, Whole whole) {
        if (whole.left == 0) {
            return "it is being stopped";
        }
        return whole.left < part.units()
                ? "only %s left".formatted(Reason.counted(whole.left, "GPU"))
                : bound(whole.bound, part.units(), whole.due);
    }

    /** How many GPUs of those that work together are bound, and by when all have to be. */
    static String bound(int bound, int units, Optional<Instant> due) {
        return bound >= units
                ? "all bound"
                : "%d of %d GPUs bound%s"
                        .formatted(
                                bound,
                                units,
                                due.map(at -> ", all by " + Times.at(at)).orElse(""));
    }

    /** The same for tools; nothing if the GPU is used alone. */
    void put(ObjectNode gpu, Lease lease) {
        lease.part()
                .ifPresent(part -> whole(part).ifPresent(whole -> {
                    boolean isGang = lease.owner().isHeldByJob();
                    ObjectNode json = gpu.putObject("part")
                            .put("of", isGang ? "gang" : "replica")
                            .put("name", part.replica().value())
                            .put("gpus", part.units())
                            .put("nodes", whole.nodes.size())
                            .put("left", whole.left)
                            .put("bound", whole.bound);
                    if (!isGang) {
                        json.put("shape", part.shape()).put("role", part.role().inWords());
                    }
                    whole.due.ifPresent(at -> json.put("boundBy", at.toString()));
                }));
    }
}
