package io.lendstream.simulator.workload;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The GPUs of the whole replicas of a service. A replica is counted on the kind of GPU on which it answers most. Needs
 * are in GPUs: requests per second over those of a GPU in the shapes where a GPU answers most, with GPUs for all roles.
 */
final class WholeReplicas {
    private static final double ROUNDING = 1e-9;
    /** With more GPUs only the best shape counts: what the others save there is next to nothing. */
    private static final int MOST_EXACT = 100_000;

    private static final int HALVINGS = 60;

    private final double perGpu;
    private final List<Role> roles;

    /** The replicas of one GPU have no roles. */
    private WholeReplicas(double perGpu, List<Role> roles) {
        this.perGpu = perGpu;
        this.roles = roles;
    }

    /**
     * The replicas of a service.
     *
     * @param gpus up to so many, counts of GPUs are the least possible
     */
    static WholeReplicas of(InferenceService service, int gpus) {
        if (!service.hasGroups()) {
            return new WholeReplicas(ofOneGpu(service), List.of());
        }
        List<Role> roles = new ArrayList<>();
        double gpusPerRate = 0;
        for (ReplicaRole role : service.hardware().roles()) {
            Role ofRole = Role.of(service, role, Math.min(gpus, MOST_EXACT));
            roles.add(ofRole);
            gpusPerRate += ofRole.best.units / ofRole.best.perSecond;
        }
        return roles.isEmpty()
                ? new WholeReplicas(service.replicaCapacityPerSecond(), List.of())
                : new WholeReplicas(1 / gpusPerRate, roles);
    }

    private static double ofOneGpu(InferenceService service) {
        return service.capacities().stream()
                .mapToDouble(each -> service.likelyCapacityOn(Optional.of(each.kind())))
                .max()
                .orElse(service.replicaCapacityPerSecond());
    }

    /** Whether replicas differ by the kind of their GPUs. */
    static boolean differByKind(InferenceService service) {
        return service.capacities().size() > 1
                || service.hardware().planned().stream()
                        .anyMatch(shape -> shape.capacities().size() > 1);
    }

    /** Whether a replica has several GPUs, or each request needs replicas of several roles. */
    boolean areGroups() {
        return !roles.isEmpty();
    }

    /** Requests per second of a GPU. */
    double perGpu() {
        return perGpu;
    }

    /** GPUs in whole replicas. */
    double gpus(double need) {
        if (roles.isEmpty()) {
            return Math.ceil(need - ROUNDING);
        }
        double sum = 0;
        for (Role role : roles) {
            sum += role.gpus(need * perGpu);
        }
        return sum;
    }

    /** The largest need that whole replicas on so many GPUs can answer. */
    double mostOn(int gpus) {
        double least = 0;
        double beyond = gpus + 1.0;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (least + beyond) / 2;
            if (gpus(middle) <= gpus) {
                least = middle;
            } else {
                beyond = middle;
            }
        }
        return least;
    }

    /** @param perSecond on the kind where it answers most */
    private record Sized(int units, double perSecond) {
        static Sized of(ReplicaShape shape, double ofService) {
            return new Sized(
                    shape.units(),
                    shape.capacities().stream()
                            .mapToDouble(each -> shape.likelyCapacityOn(Optional.of(each.kind()), ofService))
                            .max()
                            .orElseGet(() -> shape.likelyCapacityOn(Optional.empty(), ofService)));
        }

        double perUnit() {
            return perSecond / units;
        }
    }

    /**
     * The replicas of a role.
     *
     * @param best the shape in which a GPU answers most
     * @param most the most requests per second with each number of GPUs
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Role(Sized best, double[] most) {
        static Role of(InferenceService service, ReplicaRole role, int gpus) {
            List<Sized> shapes = new ArrayList<>();
            for (ReplicaShape shape : service.hardware().planned(role)) {
                shapes.add(Sized.of(shape, service.replicaCapacityPerSecond()));
            }
            Sized best = shapes.get(0);
            int largest = 1;
            for (Sized shape : shapes) {
                best = shape.perUnit() > best.perUnit() ? shape : best;
                largest = Math.max(largest, shape.units);
            }
            double[] most = new double[gpus + largest + 1];
            for (int i = 1; i < most.length; i++) {
                most[i] = most[i - 1];
                for (Sized shape : shapes) {
                    if (shape.units <= i) {
                        most[i] = Math.max(most[i], most[i - shape.units] + shape.perSecond);
                    }
                }
            }
            return new Role(best, most);
        }

        /** The fewest GPUs that answer so many requests per second. */
        double gpus(double perSecond) {
            double asked = perSecond - ROUNDING * best.perSecond;
            int last = most.length - 1;
            if (asked > most[last]) {
                return last + Math.ceil((asked - most[last]) / best.perSecond) * best.units;
            }
            int from = 0;
            int to = last;
            while (from < to) {
                int middle = (from + to) / 2;
                if (most[middle] >= asked) {
                    to = middle;
                } else {
                    from = middle + 1;
                }
            }
            return from;
        }
    }
}
