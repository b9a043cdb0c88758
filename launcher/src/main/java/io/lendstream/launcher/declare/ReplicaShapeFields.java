package io.lendstream.launcher.declare;

import static io.lendstream.launcher.declare.SharedForms.amounts;
import static io.lendstream.launcher.declare.SharedForms.length;
import static io.lendstream.launcher.declare.SharedForms.wholes;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.TopologyLevel;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The fields of a shape of replicas. */
final class ReplicaShapeFields {
    static final ValueForm<ReplicaRole> ROLES = ScalarForms.choice(roles());

    private static final SpecField<ReplicaShape, String> NAME =
            SpecField.mandatory("name", ScalarForms.name(), ReplicaShape::name, "Its name, unique in the service.");
    private static final SpecField<ReplicaShape, ReplicaRole> ROLE = SpecField.defaulted(
            "role", ROLES, ReplicaRole.ALL, ReplicaShape::role, "The part of a request that its replicas work on.");
    private static final SpecField<ReplicaShape, Integer> GPUS_PER_NODE = SpecField.defaulted(
            "gpusPerNode",
            ScalarForms.whole(wholes(ReplicaShape.class, "gpusPerNode", 1)),
            1,
            ReplicaShape::gpusPerNode,
            "GPUs on each node.");
    private static final SpecField<ReplicaShape, Integer> NODES = SpecField.defaulted(
            "nodes", ScalarForms.whole(wholes(ReplicaShape.class, "nodes", 1)), 1, ReplicaShape::nodes, "Nodes.");
    private static final SpecField<ReplicaShape, Double> PER_SECOND = SpecField.optional(
            "perSecond",
            SharedForms.PER_SECOND,
            ReplicaShape::perSecond,
            "Requests per second of one replica within the SLO. Without it, replicaCapacityPerSecond of the service.");
    private static final SpecField<ReplicaShape, Duration> COLD = SpecField.mandatory(
            "cold",
            length(ReplicaShape.class, "cold"),
            shape -> shape.starts().cold(),
            "From the decision that starts a replica to its first answer.");
    private static final SpecField<ReplicaShape, Duration> CACHED = SpecField.optional(
            "cached",
            length(ReplicaShape.class, "cached"),
            shape -> shape.starts().cached(),
            "The same on nodes where the service has a replica already. Without it, as cold.");
    private static final SpecField<ReplicaShape, Duration> ASLEEP = SpecField.optional(
            "asleep",
            length(ReplicaShape.class, "asleep"),
            shape -> shape.starts().asleep(),
            "From the decision that wakes a replica to its first answer. Without it, at once.");
    private static final SpecField<ReplicaShape, Long> MEMORY = SpecField.optional(
            "memory",
            ScalarForms.memory(amounts(ReplicaShape.class, "memoryBytes")),
            ReplicaShape::memoryBytes,
            "Memory on each GPU. Kinds with less are left out.");
    private static final SpecField<ReplicaShape, TopologyLevel> WITHIN = SpecField.optional(
            "within",
            SharedForms.LEVEL,
            ReplicaShape::within,
            "The topology domain that its nodes share. Without it, any nodes.");
    private static final SpecField<ReplicaShape, List<KindCapacity>> CAPACITIES = SpecField.list(
            "capacities",
            SharedForms.capacity(),
            ReplicaShape::capacities,
            "The kinds of GPU that it may use, preferred ones first; ratios are over perSecond. Without them: all kinds.");

    private static Map<String, ReplicaRole> roles() {
        Map<String, ReplicaRole> roles = new LinkedHashMap<>();
        roles.put("all", ReplicaRole.ALL);
        roles.put("prefill", ReplicaRole.PREFILL);
        roles.put("decode", ReplicaRole.DECODE);
        return roles;
    }

    private ReplicaShapeFields() {}

    /** A shape as files have it. */
    static ValueForm<ReplicaShape> form() {
        return new SpecFields<ReplicaShape>(
                        "a shape of replicas",
                        List.of(
                                NAME,
                                ROLE,
                                GPUS_PER_NODE,
                                NODES,
                                PER_SECOND,
                                COLD,
                                CACHED,
                                ASLEEP,
                                MEMORY,
                                WITHIN,
                                CAPACITIES))
                .building(values -> new ReplicaShape(
                        values.get(NAME),
                        values.get(ROLE),
                        values.get(GPUS_PER_NODE),
                        values.get(NODES),
                        values.find(PER_SECOND),
                        values.get(CAPACITIES),
                        new StartTimes(values.get(COLD), values.find(CACHED), values.find(ASLEEP)),
                        values.find(MEMORY),
                        values.find(WITHIN)));
    }
}
