package io.lendstream.core.faults;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * What is drawn for a {@link MixedCluster}: 2 to 4 nodes of 1 to 3 kinds of GPU in two racks, some of them mixed or
 * with MIG instances; 1 or 2 actuators with their nodes and abilities; queues; services, some with replicas of several
 * GPUs; and jobs with needs of kinds, sizes, topology, gangs and deadlines.
 */
final class MixedWorld {
    private static final DomainId DOMAIN = MixedCluster.DOMAIN;
    private static final String CUTTABLE = "NVIDIA A100-SXM4-80GB";
    private static final List<String> PRODUCTS = List.of(CUTTABLE, "Tesla T4", "NVIDIA L4");
    private static final Map<String, Integer> MEMORY_GIB = Map.of("Tesla T4", 16, "NVIDIA L4", 24);
    private static final String RACK = "rack";

    private final Random random;
    private final List<String> products;
    private final List<Node> nodes = new ArrayList<>();
    private final List<ActuatorDescription> actuators = new ArrayList<>();
    private final List<QueueId> queues;
    private final Map<QueueId, Boolean> namesKinds = new HashMap<>();
    private final Map<GpuId, Unit> units = new HashMap<>();

    /**
     * A unit as it really is.
     *
     * @param place the units that it may be taken for: only itself where drivers take the unit that a decision names
     * @param share of a GPU, by compute slices
     * @param bundle the units that it is lent with; empty if it is lent alone
     */
    record Unit(NodeId node, String place, KindId kind, double share, Optional<String> bundle) {}

    MixedWorld(Random random, Instant now) {
        this.random = random;
        List<String> shuffled = new ArrayList<>(PRODUCTS);
        Collections.shuffle(shuffled, random);
        products = shuffled.subList(0, Math.max(1, random.nextInt(4)));
        for (int i = 0; i < 2 + random.nextInt(3); i++) {
            boolean isInference = i == 1 || (i > 1 && random.nextBoolean());
            nodes.add(node("n" + i, isInference ? Pool.INFERENCE : Pool.TRAINING, now));
        }
        drawActuators(now);
        queues = IntStream.range(0, random.nextInt(4))
                .mapToObj(i -> new QueueId("team-" + i))
                .toList();
        nodes.forEach(this::remember);
    }

    List<Node> nodes() {
        return nodes;
    }

    List<ActuatorDescription> actuators() {
        return actuators;
    }

    List<QueueId> queues() {
        return queues;
    }

    Unit unit(GpuId id) {
        Unit unit = units.get(id);
        if (unit == null) {
            throw new IllegalArgumentException("there is no unit " + id);
        }
        return unit;
    }

    List<GpuId> unitsOf(NodeId node) {
        return units.entrySet().stream()
                .filter(unit -> unit.getValue().node().equals(node))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    private Node node(String name, Pool pool, Instant now) {
        boolean isMixed = random.nextInt(4) == 0;
        String usual = pick(products);
        List<Gpu> all = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(5); i++) {
            all.add(gpu(new GpuId(name + "-g" + i), i, isMixed ? pick(products) : usual));
        }
        if (pool == Pool.INFERENCE && usual.equals(CUTTABLE) && random.nextInt(3) == 0) {
            GpuId id = new GpuId(name + "-cut");
            all.add(gpu(id, all.size(), usual).cutInto(List.of(half(id, 0), half(id, 4))));
        }
        return new Node(new NodeId(name), DOMAIN, pool, "boot-1", now, NodeStatus.READY, all)
                .with(new NodeFacts(Map.of(RACK, "rack-" + random.nextInt(2))));
    }

    private static Gpu gpu(GpuId id, int index, String product) {
        return Gpu.whole(id, index, product, (long) MEMORY_GIB.getOrDefault(product, 80) << 30);
    }

    private static GpuInstance half(GpuId gpu, int start) {
        GpuId id = new GpuId("%s/%d:4".formatted(gpu, start));
        return new GpuInstance(id, "3g.40gb", start, 4, 40L << 30, Optional.empty());
    }

    /** One of the whole domain, or two with their own nodes. Where there is one, it need not describe itself. */
    private void drawActuators(Instant now) {
        boolean areTwo = random.nextInt(3) > 0;
        List<NodeId> all = nodes.stream().map(Node::nodeId).toList();
        int first = 1 + random.nextInt(all.size() - 1);
        if (areTwo) {
            actuators.add(described("actuator-0", all.subList(0, first), now));
            actuators.add(described("actuator-1", all.subList(first, all.size()), now));
        } else if (random.nextInt(4) > 0) {
            actuators.add(described("actuator-0", List.of(), now));
        }
    }

    private ActuatorDescription described(String name, List<NodeId> scope, Instant now) {
        Abilities abilities = switch (random.nextInt(6)) {
            case 0, 1 -> Abilities.USUAL.withGranularity(Granularity.NODE);
            case 2 -> Abilities.USUAL.inGroupsBy(RACK);
            case 3 -> Abilities.USUAL.withGranularity(Granularity.GPU);
            default -> Abilities.USUAL;
        };
        Abilities spanning = random.nextInt(4) == 0 ? abilities.withSpansNodes(false) : abilities;
        Abilities drawn = random.nextBoolean() ? spanning.choosing(UnitChoice.NODE, UnitChoice.NODE) : spanning;
        return new ActuatorDescription(name, DOMAIN, now, "simulated", scope, drawn);
    }

    private void remember(Node node) {
        for (Gpu gpu : node.gpus()) {
            KindId kind = GpuKinds.PLAIN.of(gpu);
            if (gpu.instances().isEmpty()) {
                units.put(
                        gpu.gpuId(),
                        new Unit(node.nodeId(), place(node, gpu.gpuId(), kind, ""), kind, 1, bundle(node)));
            }
            for (GpuInstance instance : gpu.instances()) {
                GpuId id = instance.gpuId();
                String place = place(node, id, kind, instance.profile());
                units.put(id, new Unit(node.nodeId(), place, kind, 3.0 / 7, bundle(node)));
            }
        }
    }

    private String place(Node node, GpuId unit, KindId kind, String profile) {
        return actuator(node)
                .filter(each -> each.abilities().atBind() != UnitChoice.UNIT)
                .map(each -> "%s %s %s".formatted(node.nodeId(), kind, profile))
                .orElse(unit.value());
    }

    private Optional<ActuatorDescription> actuator(Node node) {
        return actuators.stream()
                .filter(each -> each.nodes().isEmpty() || each.nodes().contains(node.nodeId()))
                .findFirst();
    }

    private Optional<String> bundle(Node node) {
        return actuator(node)
                .filter(each -> each.abilities().lendsBundles() && node.pool() == Pool.INFERENCE)
                .map(each -> each.abilities().granularity() == Granularity.NODE
                        ? node.nodeId().value()
                        : each.actuator() + " " + node.facts().labels().get(RACK));
    }

    /** A queue with other quotas than before, which are of the same kinds. */
    ClusterQueue queue(QueueId name, Instant now) {
        boolean isOfKinds = namesKinds.computeIfAbsent(name, any -> random.nextInt(3) == 0);
        List<KindQuota> quotas = new ArrayList<>();
        quotas.add(new KindQuota(Optional.empty(), random.nextInt(6), limit(), limit()));
        if (isOfKinds) {
            quotas.add(new KindQuota(Optional.of(kinds().get(0)), random.nextInt(6), limit(), limit()));
        }
        Optional<String> cohort = random.nextInt(3) == 0 ? Optional.empty() : Optional.of("all");
        return new ClusterQueue(name, DOMAIN, now, cohort, 1 + random.nextInt(3), quotas)
                .preempting(
                        random.nextBoolean() ? Preemption.NEVER : Preemption.LOWER_PRIORITY,
                        random.nextInt(4) == 0 ? Preemption.LOWER_PRIORITY : Preemption.ANY);
    }

    private Optional<Double> limit() {
        return random.nextBoolean() ? Optional.empty() : Optional.of((double) random.nextInt(4));
    }

    InferenceService service(String name, Instant now) {
        InferenceService plain = new InferenceService(
                new ServiceId(name),
                DOMAIN,
                now,
                List.of(),
                Duration.ofMillis(500),
                10,
                Optional.empty(),
                random.nextInt(3),
                Duration.ofSeconds(24));
        InferenceService sized = random.nextBoolean() ? plain : plain.onSlicesOf(10L << 30);
        InferenceService onKinds = random.nextInt(3) > 0 ? sized : sized.onKinds(capacities());
        InferenceService inShapes = random.nextInt(3) > 0 ? plain.inShapes(replicaShapes()) : onKinds;
        return isQueued() ? inShapes.in(pick(queues)) : inShapes;
    }

    /** One or two shapes of 1 to 3 GPUs on one node or on each of two. */
    private List<ReplicaShape> replicaShapes() {
        List<ReplicaShape> shapes = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(2); i++) {
            int gpus = 1 + random.nextInt(3);
            int wide = random.nextInt(3) == 0 ? 2 : 1;
            shapes.add(ReplicaShape.of("shape-" + i, gpus, wide, 5.0 * gpus * wide, Duration.ofSeconds(24)));
        }
        return shapes;
    }

    /** Some of the kinds, in any order, on which a replica answers more or less. */
    private List<KindCapacity> capacities() {
        List<KindId> kinds = new ArrayList<>(kinds());
        Collections.shuffle(kinds, random);
        return kinds.subList(0, 1 + random.nextInt(kinds.size())).stream()
                .map(kind -> KindCapacity.of(kind, 4 + random.nextInt(20)))
                .toList();
    }

    TrainingJob job(String name, Instant now) {
        boolean isElastic = random.nextInt(4) > 0;
        TrainingJob plain = new TrainingJob(
                new JobId(name),
                DOMAIN,
                now,
                "vision",
                new TrainingJob.Scaling(1 + random.nextInt(3), 1, 2 + random.nextInt(7), isElastic),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(128, 4096, 32, 1024, Optional.empty()),
                        new GoodputProfile(
                                new ThroughputParameters(0.05, 0.002, 0.05, 0.001, 0.02, 0.0005, 1.5),
                                new GradientNoise(1, 1000)),
                        new RescaleCosts(Duration.ofSeconds(6), Duration.ofSeconds(3))),
                "simulated",
                random.nextInt(3) == 0 ? Optional.of(10L << 30) : Optional.empty());
        TrainingJob onKinds = random.nextInt(3) > 0 ? plain.onKinds(needs()) : plain;
        TrainingJob shaped = random.nextInt(3) == 0 ? onKinds.shaped(shape()) : onKinds;
        TrainingJob queued = isQueued()
                ? shaped.with(new TrainingJob.Precedence(random.nextInt(3), pick(queues), Optional.empty()))
                : shaped;
        return random.nextInt(6) == 0
                ? queued.due(now.plusSeconds(60L * (1 + random.nextInt(15))), DeadlineKind.HARD)
                : queued;
    }

    private KindNeeds needs() {
        List<KindId> kinds = kinds();
        List<KindTraits> traits = new ArrayList<>();
        for (KindId kind : kinds) {
            if (random.nextBoolean()) {
                traits.add(KindTraits.of(kind, new KindRatio(0.2 + 4 * random.nextDouble(), random.nextDouble() / 2)));
            }
        }
        return new KindNeeds(
                random.nextInt(3) > 0 ? List.of(pick(kinds)) : List.of(),
                random.nextBoolean() ? Optional.of(pick(kinds)) : Optional.empty(),
                random.nextInt(4) == 0 ? Optional.of((long) (1 + random.nextInt(60)) << 30) : Optional.empty(),
                traits);
    }

    private JobShape shape() {
        List<Integer> sizes = random.nextInt(3) == 0 ? List.of(1, 2, 4) : List.of();
        int multiple = random.nextInt(3) == 0 ? 2 : 1;
        JobShape shape = new JobShape(sizes, multiple, random.nextInt(4) == 0, Optional.empty());
        TopologyLevel level = random.nextBoolean() ? TopologyLevel.NODE : TopologyLevel.RACK;
        JobShape near = random.nextBoolean() ? shape.within(level, random.nextInt(3) > 0) : shape;
        return random.nextInt(3) > 0 ? near.together() : near;
    }

    private boolean isQueued() {
        return !queues.isEmpty() && random.nextInt(5) > 0;
    }

    private List<KindId> kinds() {
        return products.stream()
                .map(product -> GpuKinds.PLAIN.of(gpu(new GpuId("any"), 0, product)))
                .toList();
    }

    private <T> T pick(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}
