package io.lendstream.core.event;

import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.id.KindId;
import io.lendstream.core.persistent.WhenAbsent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The hardware that replicas of a service run on, and those that run already.
 *
 * @param capacities the kinds of GPU that a replica of one GPU may use, preferred ones first, with its capacity on
 *     each; if empty, it uses all kinds and takes them as alike
 * @param shapes the shapes of replicas of several units, preferred ones first; if empty, or a single one of one GPU, a
 *     replica has one GPU
 * @param roleFloors the floors of roles that differ from the floor of the service; only of a service with shapes
 * @param adopt which replicas that run already the service claims; empty if none does
 * @param removed whether the service gives up all it has
 */
public record ServiceShapes(
        List<KindCapacity> capacities,
        List<ReplicaShape> shapes,
        List<RoleFloor> roleFloors,
        Optional<AdoptionSelector> adopt,
        @WhenAbsent("false") boolean removed) {
    /** Replicas of one GPU of any kind. */
    public static final ServiceShapes PLAIN = new ServiceShapes(List.of(), List.of(), List.of());

    /** Hardware of replicas none of which runs already. */
    public ServiceShapes(List<KindCapacity> capacities, List<ReplicaShape> shapes, List<RoleFloor> roleFloors) {
        this(capacities, shapes, roleFloors, Optional.empty());
    }

    /** Hardware of a service that keeps it. */
    public ServiceShapes(
            List<KindCapacity> capacities,
            List<ReplicaShape> shapes,
            List<RoleFloor> roleFloors,
            Optional<AdoptionSelector> adopt) {
        this(capacities, shapes, roleFloors, adopt, false);
    }

    public ServiceShapes {
        capacities = List.copyOf(capacities);
        shapes = List.copyOf(shapes);
        roleFloors = List.copyOf(roleFloors);
    }

    /** Whether a replica may have several units. A single shape of one GPU only adds start times. */
    public boolean hasGroups() {
        return !shapes.isEmpty() && !isSingle();
    }

    private boolean isSingle() {
        return shapes.size() == 1 && shapes.get(0).units() == 1 && shapes.get(0).role() == ReplicaRole.ALL;
    }

    /** The shapes that this version plans. */
    public List<ReplicaShape> planned() {
        for (ReplicaShape shape : shapes) {
            if (shape.role() == ReplicaRole.UNKNOWN) {
                return withoutUnknown();
            }
        }
        return shapes; // asked at every rate
    }

    private List<ReplicaShape> withoutUnknown() {
        List<ReplicaShape> known = new ArrayList<>(shapes);
        known.removeIf(shape -> shape.role() == ReplicaRole.UNKNOWN);
        return known;
    }

    /** The shapes of a role. */
    public List<ReplicaShape> planned(ReplicaRole role) {
        List<ReplicaShape> ofRole = new ArrayList<>(shapes.size());
        for (ReplicaShape shape : shapes) {
            if (shape.role() == role) {
                ofRole.add(shape);
            }
        }
        return ofRole;
    }

    /** The roles of the shapes that this version plans. Each request needs a replica of each. */
    public List<ReplicaRole> roles() {
        List<ReplicaRole> roles = new ArrayList<>();
        for (ReplicaShape shape : planned()) {
            if (!roles.contains(shape.role())) {
                roles.add(shape.role());
            }
        }
        return roles;
    }

    /** Whether each request needs replicas of several roles. */
    public boolean hasRoles() {
        for (ReplicaShape shape : shapes) {
            if (shape.role().isPart()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Replicas of a role that are always kept.
     *
     * @param ofService the floor of the service
     */
    public int floor(ReplicaRole role, int ofService) {
        for (RoleFloor floor : roleFloors) {
            if (floor.role() == role) {
                return floor.replicas();
            }
        }
        return ofService;
    }

    /**
     * GPUs of the floors of all roles, each in the shape that it prefers.
     *
     * @param ofService the floor of the service
     */
    int floorGpus(int ofService) {
        long gpus = 0;
        for (ReplicaRole role : roles()) {
            gpus += (long) floor(role, ofService) * planned(role).get(0).units();
        }
        return (int) Math.min(Integer.MAX_VALUE, gpus);
    }

    /** Whether a replica starts faster on nodes where the service has one already. */
    public boolean startsFromCache() {
        for (ReplicaShape shape : shapes) {
            if (shape.starts().cached().isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Whether a sleeping replica of some shape takes time to wake. */
    public boolean takesTimeToWake() {
        for (ReplicaShape shape : shapes) {
            if (shape.starts().takesTimeToWake()) {
                return true;
            }
        }
        return false;
    }

    /** A shape of replicas of several units by its name. */
    public Optional<ReplicaShape> named(String name) {
        if (!hasGroups()) {
            return Optional.empty();
        }
        for (ReplicaShape shape : shapes) {
            if (shape.name().equals(name)) {
                return Optional.of(shape);
            }
        }
        return Optional.empty();
    }

    /** Whether a replica has a shape, a role and a kind of GPU that are declared. */
    public boolean declares(GroupPart part, Optional<KindId> kind) {
        return named(part.shape())
                .filter(shape -> shape.role() == part.role())
                .filter(shape -> shape.units() == part.units() && shape.uses(kind))
                .isPresent();
    }

    /** The only shape, if a replica of it has one GPU: such a service is planned as one without shapes. */
    Optional<ReplicaShape> single() {
        return isSingle() ? Optional.of(shapes.get(0)) : Optional.empty();
    }

    /** The same for replicas of one GPU: the only shape stays if it has start times beside the cold one. */
    ServiceShapes ofOneGpu(ReplicaShape only) {
        return new ServiceShapes(
                only.capacities().isEmpty() ? capacities : only.capacities(),
                only.starts().saysMore() ? List.of(only.ofStarts()) : List.of(),
                List.of(),
                adopt,
                removed);
    }

    ServiceShapes withKinds(List<KindCapacity> kinds) {
        return new ServiceShapes(kinds, shapes, roleFloors, adopt, removed);
    }

    ServiceShapes withShapes(List<ReplicaShape> others) {
        return new ServiceShapes(capacities, others, roleFloors, adopt, removed);
    }

    ServiceShapes withFloors(List<RoleFloor> floors) {
        return new ServiceShapes(capacities, shapes, floors, adopt, removed);
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
        return shapes.stream()
                .map(ReplicaShape::name)
                .filter(name -> !names.add(name))
                .findFirst();
    }

    /** Whether some replicas work on whole requests and others on parts. */
    boolean mixesRoles() {
        return hasRoles() && shapes.stream().anyMatch(shape -> shape.role() == ReplicaRole.ALL);
    }

    /** The same of a service that claims replicas that run already. */
    ServiceShapes adopting(AdoptionSelector selector) {
        return new ServiceShapes(capacities, shapes, roleFloors, Optional.of(selector), removed);
    }

    /** The same without floors of roles, of a service that claims nothing and gives up all it has. */
    ServiceShapes gone() {
        return new ServiceShapes(capacities, shapes, List.of(), Optional.empty(), true);
    }
}
