package io.lendstream.core.scheduler;

import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.demand.Outlook;
import io.lendstream.core.demand.ReplicaMix;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloFeedback;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The need of a service that declares shapes for replicas of one role, while units are found for it. A replica counts
 * with the requests that it answers in its shape on its kind of GPU. Replicas of other roles do not count.
 */
final class GroupNeed {
    private final InferenceService spec;
    private final ReplicaRole role;
    private final List<ReplicaShape> shapes;
    private final int floor;
    private final Function<ReplicaMix, ReplicaNeed> need;
    private final Optional<SloFeedback> feedback;
    private final Duration lead;
    private final double next;
    private final List<Double> counted = new ArrayList<>();

    /**
     * @param isThere whether the domain has a kind
     * @param need of the role, by the capacities of its replicas
     * @param lead time from a decision to a replica that answers
     */
    private GroupNeed(
            ServiceState service,
            ReplicaRole role,
            Predicate<KindId> isThere,
            Function<ReplicaMix, ReplicaNeed> need,
            Duration lead) {
        this.spec = service.spec();
        this.role = role;
        this.shapes = spec.hardware().planned(role);
        this.floor = spec.floor(role);
        this.need = need;
        this.feedback = service.feedback();
        this.lead = lead;
        this.next = next(spec, shapes, isThere);
    }

    /** The needs of the roles of a service in a step, and nothing counted yet. */
    static List<GroupNeed> of(
            StepBuilder builder,
            Policy policy,
            SchedulerSettings settings,
            ServiceState service,
            List<ReplicaGroup> groups) {
        StartLead leads = new StartLead(settings);
        List<GroupNeed> needs = new ArrayList<>();
        for (ReplicaRole role : service.spec().hardware().roles()) {
            Duration lead = leads.of(service, role, builder.nodes(), groups);
            needs.add(of(
                    policy,
                    service,
                    role,
                    builder.clusterIndex().trainingCapacity().kinds()::contains,
                    builder.now(),
                    lead));
        }
        return needs;
    }

    private static GroupNeed of(
            Policy policy,
            ServiceState service,
            ReplicaRole role,
            Predicate<KindId> isThere,
            Instant now,
            Duration lead) {
        Outlook outlook = policy.outlook();
        int floor = service.spec().floor(role);
        return new GroupNeed(
                service, role, isThere, mix -> ReplicaNeed.of(service, now, lead, outlook, mix, floor), lead);
    }

    /** The need of a service at a time, in replicas of the shapes that it prefers. */
    static ReplicaNeed preferred(Policy policy, SchedulerSettings settings, ServiceState service, Instant now) {
        List<GroupNeed> needs = new ArrayList<>();
        for (ReplicaRole role : service.spec().hardware().roles()) {
            Duration lead = new StartLead(settings).of(service, role);
            needs.add(of(policy, service, role, any -> true, now, lead));
        }
        return sum(needs);
    }

    /** The need of all roles, counted in the replicas that are counted. */
    static ReplicaNeed sum(List<GroupNeed> needs) {
        SortedMap<ReplicaRole, ReplicaNeed> roles = new TreeMap<>();
        needs.forEach(need -> roles.put(need.role, need.inCounted()));
        return ReplicaNeed.of(roles);
    }

    /** What one more replica answers: in the first shape, on the first of its kinds that the domain has. */
    private static double next(InferenceService spec, List<ReplicaShape> planned, Predicate<KindId> isThere) {
        double declared = spec.replicaCapacityPerSecond();
        for (ReplicaShape shape : planned) {
            if (shape.capacities().isEmpty()) {
                return shape.capacityOn(Optional.empty(), declared);
            }
            for (KindCapacity kind : shape.capacities()) {
                if (isThere.test(kind.kind())) {
                    return shape.capacityOn(Optional.of(kind.kind()), declared);
                }
            }
        }
        return planned.isEmpty() ? declared : planned.get(0).capacityOn(Optional.empty(), declared);
    }

    ReplicaRole role() {
        return role;
    }

    /** The shapes of the role, preferred ones first. */
    List<ReplicaShape> shapes() {
        return shapes;
    }

    int floor() {
        return floor;
    }

    /**
     * What a replica is planned with; 0 if it has another role, or if the service does not declare its shape, or its
     * kind, any more.
     */
    double capacity(ReplicaGroup group) {
        return capacity(group.part(), group.kind());
    }

    /** The same of the replica that a part belongs to. */
    double capacity(GroupPart part, Optional<KindId> kind) {
        for (ReplicaShape shape : shapes) {
            if (shape.name().equals(part.shape())) {
                return shape.uses(kind) && shape.units() == part.units()
                        ? shape.capacityOn(kind, spec.replicaCapacityPerSecond())
                        : 0;
            }
        }
        return 0;
    }

    /**
     * What a replica that is not declared any more is taken to answer: by GPU as much as one in the shape of the role
     * that answers least by GPU; 0 if it does not work for this role.
     */
    double likely(ReplicaRole of, List<GpuState> units) {
        boolean works = of == role || !of.isPart() || !role.isPart();
        double least = works && !shapes.isEmpty() ? Double.MAX_VALUE : 0;
        Optional<KindId> kind = units.get(0).kind();
        for (ReplicaShape shape : works ? shapes : List.<ReplicaShape>of()) {
            least = Math.min(least, shape.capacityOn(kind, spec.replicaCapacityPerSecond()) / shape.units());
        }
        return least * units.size();
    }

    /** Whether replicas with these capacities answer the load, now and as far as it is planned ahead. */
    boolean isAnsweredBy(List<Double> capacities) {
        ReplicaNeed needed =
                in(capacities.stream().mapToDouble(Double::doubleValue).toArray());
        return Math.max(needed.now(), needed.ahead()) <= capacities.size();
    }

    private int place(ReplicaGroup group) {
        for (int i = 0; i < shapes.size(); i++) {
            if (shapes.get(i).name().equals(group.part().shape())) {
                return i;
            }
        }
        return shapes.size();
    }

    /** The order in which replicas are kept and woken: preferred shapes first, then another order. */
    Comparator<ReplicaGroup> preferredFirst(Comparator<ReplicaGroup> then) {
        return Comparator.comparingInt(this::place).thenComparing(then);
    }

    void count(double capacity) {
        counted.add(capacity);
    }

    void count(UnitSet set) {
        count(set.shape().capacityOn(set.kind(), spec.replicaCapacityPerSecond()));
    }

    /** The need counted in these replicas first, in their order. */
    ReplicaNeed in(List<ReplicaGroup> groups) {
        return in(groups.stream().mapToDouble(this::capacity).toArray());
    }

    /** The need counted in the replicas that are counted. */
    ReplicaNeed inCounted() {
        return in(counted.stream().mapToDouble(each -> each).toArray());
    }

    private ReplicaNeed in(double[] capacities) {
        double[] used = Arrays.stream(capacities).filter(each -> each > 0).toArray();
        return need.apply(new ReplicaMix(used, next));
    }

    /** Replicas that are missing beside those counted, in the preferred shape. */
    int missing() {
        return Math.max(0, inCounted().replicas() - counted.size());
    }

    /** Replicas that are missing beside those counted, as far as needs are filled. */
    int missing(Fill fill) {
        return switch (fill) {
            case FLOORS -> Math.min(missing(), missingToFloor());
            case PRESENT -> Math.max(0, inCounted().present(feedback) - counted.size());
            case ALL -> missing();
        };
    }

    /**
     * Of warm replicas, how many the role keeps although requests of others wait: those for its present load, and for
     * its greatest load within the time that a replica takes to come back.
     *
     * @param warm those first that it keeps
     * @param peak requests per second at the most within that time
     */
    int kept(List<ReplicaGroup> warm, double peak) {
        double[] capacities = warm.stream().mapToDouble(this::capacity).toArray();
        return Math.max(in(warm).present(feedback), new ReplicaMix(capacities, next).replicasFor(peak));
    }

    /** Time from a decision to a replica that answers. */
    Duration lead() {
        return lead;
    }

    /** Replicas that are missing to the floor beside those counted. */
    int missingToFloor() {
        return Math.max(0, floor - counted.size());
    }

    /** The share of the replicas needed that is missing beside those counted. */
    double shareMissing() {
        int missing = missing();
        return missing == 0 ? 0 : missing / (double) (missing + counted.size());
    }
}
