package io.lendstream.core.event;

import io.lendstream.core.decision.ReplicaRole;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The hardware that replicas of a service run on.
 *
 * @param capacities the kinds of GPU that a replica of one GPU may use, preferred ones first, with its capacity on
 *     each; if empty, it uses all kinds and takes them as alike
 * @param shapes the shapes of replicas of several units, preferred ones first; if empty, a replica has one GPU
 */
public record ServiceShapes(List<KindCapacity> capacities, List<ReplicaShape> shapes) {
    /** Replicas of one GPU of any kind. */
    public static final ServiceShapes PLAIN = new ServiceShapes(List.of(), List.of());

    public ServiceShapes {
        capacities = List.copyOf(capacities);
        shapes = List.copyOf(shapes);
    }

    /** Whether a replica may have several units. */
    public boolean hasGroups() {
        return !shapes.isEmpty();
    }

    /** The shapes that this version plans. */
    public List<ReplicaShape> planned() {
        if (shapes.isEmpty()) {
            return shapes; // asked at every rate
        }
        return shapes.stream().filter(shape -> shape.role() == ReplicaRole.ALL).toList();
    }

    /** A shape by its name. */
    public Optional<ReplicaShape> named(String name) {
        for (ReplicaShape shape : shapes) {
            if (shape.name().equals(name)) {
                return Optional.of(shape);
            }
        }
        return Optional.empty();
    }

    /** The only shape, if a replica of it has one GPU: such a service is planned as one without shapes. */
    Optional<ReplicaShape> single() {
        return shapes.size() == 1 && shapes.get(0).units() == 1 && shapes.get(0).role() == ReplicaRole.ALL
                ? Optional.of(shapes.get(0))
                : Optional.empty();
    }

    ServiceShapes withKinds(List<KindCapacity> kinds) {
        return new ServiceShapes(kinds, shapes);
    }

    /** A shape of several nodes that are one node. */
    Optional<ReplicaShape> impossible() {
        return shapes.stream()
                .filter(shape -> shape.nodes() > 1
                        && shape.within().filter(TopologyLevel.NODE::equals).isPresent())
                .findFirst();
    }

    /** The name of two shapes; empty if each has its own. */
    Optional<String> repeated() {
        Set<String> names = new HashSet<>();
        return shapes.stream().map(ReplicaShape::name).filter(name -> !names.add(name)).findFirst();
    }
}
