package io.lendstream.core.scheduler;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.policy.SlicePrice;
import io.lendstream.core.repartition.Instance;
import io.lendstream.core.repartition.RepartitionStep;
import io.lendstream.core.repartition.RepartitionTimes;
import io.lendstream.core.repartition.Transition;
import io.lendstream.core.repartition.TransitionPlanner;
import io.lendstream.core.scheduler.CuttableGpus.Cuttable;
import io.lendstream.core.scheduler.CuttableGpus.Unit;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Decides the next stage towards a plan of MIG instances. */
final class RepartitioningStage {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final LoanLoss loss;
    private final CuttableGpus gpus;
    private final SlicePlan plan;
    private final MigLayouts layouts;
    private final List<Packing.Demand> demands;

    RepartitioningStage(StepBuilder builder, SchedulerSettings settings, CuttableGpus gpus, SlicePlan plan) {
        this.builder = builder;
        this.settings = settings;
        this.loss = new LoanLoss(builder);
        this.gpus = gpus;
        this.plan = plan;
        this.layouts = gpus.layouts();
        this.demands = plan.demands().stream().map(this::demand).toList();
    }

    private Packing.Demand demand(SlicePlan.Demand demand) {
        Map<MigProfile, Double> capacities = gpus.kind().profiles().stream()
                .filter(profile -> demand.capacity(profile.name()) > 0)
                .collect(Collectors.toMap(profile -> profile, profile -> demand.capacity(profile.name())));
        return new Packing.Demand(demand.service().value(), demand.ratePerSecond(), capacities);
    }

    void decide(boolean planned) {
        Optional<Transition> transition = transition();
        transition.ifPresent(way -> builder.await(awaited(way)));
        if (transition.isEmpty()
                || (transition.get().steps().isEmpty() && !transition.get().isComplete())) {
            if (planned) {
                hold(transition);
            }
            return;
        }
        List<RepartitionStep> steps = transition.get().steps().stream()
                .filter(step -> step.stage() == 0)
                .toList();
        if (steps.isEmpty()) {
            if (!gpus.isInFlight()) {
                gpus.gpus().values().forEach(this::makeWhole);
            }
        } else if (steps.get(0) instanceof RepartitionStep.Drain) {
            if (!gpus.isInFlight()) {
                drain(steps);
            }
        } else {
            create(steps);
        }
    }

    /** Units where instances are still to come. */
    private Set<GpuId> awaited(Transition transition) {
        Set<GpuId> awaited = new HashSet<>();
        for (RepartitionStep step : transition.steps()) {
            if (step instanceof RepartitionStep.Create) {
                Instance instance = step.instance();
                cuttable(instance.gpu())
                        .there()
                        .filter(unit -> !layouts.isLegal(List.of(unit.place(), instance.place())))
                        .forEach(unit -> awaited.add(unit.state().gpuId()));
            }
        }
        return awaited;
    }

    private void hold(Optional<Transition> transition) {
        String why = transition
                .map(each -> "services would fall short on the way: " + each.shortfallsInWords())
                .orElseGet(() -> {
                    int cuttable = gpus.gpus().size();
                    return "only %s can be cut, fewer than it needs".formatted(Reason.counted(cuttable, "GPU"));
                });
        builder.decide(
                builder.now(),
                builder.because(ReasonCode.SLICES, "the plan of MIG instances waits: " + why, Map.of(), List.of()),
                new Action.Hold(Optional.empty(), Optional.empty()));
    }

    /** The way from what serves, and is about to, on the fewest GPUs more; those first where least training is lost. */
    private Optional<Transition> transition() {
        Packing target = target();
        List<Instance> serving = gpus.serving();
        Set<GpuId> used = new HashSet<>();
        serving.forEach(instance -> used.add(instance.gpu()));
        List<GpuId> spare = gpus.gpus().values().stream()
                .filter(gpu -> !used.contains(gpu.gpu()))
                .sorted(Comparator.<Cuttable>comparingInt(gpu -> isChanging(gpu) ? 0 : 1)
                        .thenComparingDouble(gpu -> loss.of(gpu.units()) + switching(gpu))
                        .thenComparing(Cuttable::gpu))
                .map(Cuttable::gpu)
                .toList();
        TransitionPlanner planner = new TransitionPlanner(layouts, RepartitionTimes.DEFAULT, false);
        Optional<Transition> best = Optional.empty();
        int fewest = Math.max(0, target.gpus().size() - used.size());
        for (int more = fewest; more <= spare.size(); more++) {
            Set<GpuId> may = new HashSet<>(used);
            may.addAll(spare.subList(0, more));
            best = Optional.of(planner.plan(may, serving, target, demands));
            if (best.get().isComplete()) {
                return best;
            }
        }
        return best;
    }

    private double switching(Cuttable gpu) {
        boolean isWhole = gpu.there().anyMatch(Unit::isWhole);
        return isWhole ? RepartitionTimes.DEFAULT.switchMode().toSeconds() : 0;
    }

    private boolean isChanging(Cuttable gpu) {
        return gpu.units().stream().anyMatch(unit -> unit.isRecut() || unit.isLeaving());
    }

    private Packing target() {
        List<Packing.Cut> cuts = new ArrayList<>();
        for (SlicePlan.Cut cut : plan.cuts()) {
            List<MigProfile> profiles = new ArrayList<>();
            List<Integer> services = new ArrayList<>();
            for (int i = 0; i < cut.profiles().size(); i++) {
                int service = index(cut.services().get(i));
                if (service >= 0) {
                    profiles.add(gpus.kind().profile(cut.profiles().get(i)).orElseThrow());
                    services.add(service);
                }
            }
            if (!profiles.isEmpty()) {
                cuts.add(new Packing.Cut(profiles, services));
            }
        }
        return new Packing(cuts);
    }

    private int index(ServiceId service) {
        for (int i = 0; i < plan.demands().size(); i++) {
            if (plan.demands().get(i).service().equals(service)) {
                return i;
            }
        }
        return -1;
    }

    private void drain(List<RepartitionStep> steps) {
        Map<ServiceId, List<GpuId>> leaving = new TreeMap<>();
        for (RepartitionStep step : steps) {
            Instance instance = step.instance();
            unit(instance)
                    .ifPresent(unit -> leaving.computeIfAbsent(
                                    new ServiceId(instance.service()), name -> new ArrayList<>())
                            .add(unit.state().gpuId()));
        }
        leaving.forEach((service, units) -> {
            String text = "%s drains %s: its other replicas answer its %.1f requests/s (plan: %s)"
                    .formatted(service, Reason.counted(units.size(), "MIG instance"), rate(service), plan.reason());
            new ReplicaChanges(builder, settings).stop(service, units, reason(text, service, Map.of()));
        });
    }

    private double rate(ServiceId service) {
        return plan.demand(service).map(SlicePlan.Demand::ratePerSecond).orElse(0.0);
    }

    /** The unit that is exactly this instance, with any tenant. */
    private Optional<Unit> unit(Instance instance) {
        return cuttable(instance.gpu())
                .there()
                .filter(unit -> unit.place().equals(instance.place()))
                .findFirst();
    }

    private Cuttable cuttable(GpuId gpu) {
        return java.util.Objects.requireNonNull(gpus.gpus().get(gpu));
    }

    /**
     * Puts instances to work that are there and free, cuts GPUs where there is room, and makes room where loans are in
     * it.
     */
    private void create(List<RepartitionStep> steps) {
        Map<ServiceId, List<GpuId>> ready = new TreeMap<>();
        Map<GpuId, List<Instance>> missing = new TreeMap<>();
        for (RepartitionStep step : steps) {
            Instance instance = step.instance();
            Optional<Unit> there = unit(instance).filter(unit -> !unit.isRecut());
            if (there.isPresent() && there.get().isFree()) {
                ready.computeIfAbsent(new ServiceId(instance.service()), name -> new ArrayList<>())
                        .add(there.get().state().gpuId());
            } else if (there.isPresent()) {
                takeBack(List.of(instance), List.of(there.get()));
            } else {
                missing.computeIfAbsent(instance.gpu(), gpu -> new ArrayList<>())
                        .add(instance);
            }
        }
        new QuotaGuard(builder).allowed(ready).forEach(this::serve);
        missing.forEach((gpu, instances) -> cut(cuttable(gpu), instances));
    }

    private void serve(ServiceId name, List<GpuId> units) {
        ServiceState service = builder.services().require(name);
        String text = "%s starts on %s to answer %.1f requests/s (plan: %s)"
                .formatted(name, Reason.counted(units.size(), "MIG instance"), rate(name), plan.reason());
        new ReplicaChanges(builder, settings).start(service, units, reason(text, name, Map.of()));
    }

    /** Cuts a GPU so that it has more instances, once their place has no tenant. */
    private void cut(Cuttable gpu, List<Instance> more) {
        List<MigPlace> places =
                new ArrayList<>(more.stream().map(Instance::place).toList());
        List<Unit> going = new ArrayList<>();
        for (Unit unit : gpu.there().toList()) {
            List<MigPlace> with = new ArrayList<>(places);
            with.add(unit.place());
            if (layouts.isLegal(with)) {
                places.add(unit.place());
            } else {
                going.add(unit);
            }
        }
        boolean isBeingCut = gpu.units().stream().anyMatch(Unit::isRecut);
        if (!isBeingCut && going.stream().allMatch(Unit::isFree)) {
            String services = more.stream().map(Instance::service).distinct().collect(Collectors.joining(", "));
            recut(gpu, going, places, "for %s (plan: %s)".formatted(services, plan.reason()));
        } else {
            takeBack(more, going);
        }
    }

    /** A GPU that is of no use to the plan leaves MIG mode, or becomes one instance. */
    private void makeWhole(Cuttable gpu) {
        MigProfile largest = gpus.kind().profiles().get(0);
        boolean isWhole = gpu.units().size() == 1
                && (gpu.switchable()
                        ? gpu.units().get(0).isWhole()
                        : gpu.units().get(0).place().profile().equals(largest));
        if (!isWhole && gpu.units().stream().allMatch(Unit::isFree)) {
            MigPlace place = new MigPlace(largest, largest.starts().get(0));
            recut(
                    gpu,
                    gpu.units(),
                    gpu.switchable() ? List.of() : List.of(place),
                    "so that it can be lent: no service needs it (plan: %s)".formatted(plan.reason()));
        }
    }

    private void recut(Cuttable gpu, List<Unit> going, List<MigPlace> places, String why) {
        if (plan.cutsFrom().isAfter(builder.now())) {
            return;
        }
        List<MigPlace> sorted = places.stream()
                .sorted(Comparator.<MigPlace>comparingInt(
                                place -> -place.profile().memorySlices())
                        .thenComparingInt(place -> -place.profile().computeSlices())
                        .thenComparingInt(MigPlace::start))
                .toList();
        List<String> cut = sorted.stream().map(MigPlace::toString).toList();
        List<String> profiles =
                sorted.stream().map(place -> place.profile().name()).toList();
        Instant deadline = builder.now().plus(settings.bindDeadline().multipliedBy(2));
        DecisionId id = builder.nextId();
        builder.decide(
                deadline,
                builder.because(
                        ReasonCode.SLICES,
                        "%s %s %s"
                                .formatted(
                                        gpu.gpu(),
                                        cut.isEmpty() ? "leaves MIG mode" : "is cut into " + Wording.layout(profiles),
                                        why),
                        Map.of("instances", (double) cut.size(), "removed", (double) going.size()),
                        List.of()),
                new Action.Repartition(List.of(gpu.gpu()), cut));
        going.forEach(unit -> builder.own(unit.state().gpuId(), new Owner.Recutting(id, deadline, false)));
        Set<MigPlace> kept = gpu.there()
                .filter(unit -> !going.contains(unit))
                .map(Unit::place)
                .collect(Collectors.toSet());
        places.stream()
                .filter(place -> !kept.contains(place))
                .forEach(place -> expect(gpu, place, new Owner.Recutting(id, deadline, true)));
        if (places.isEmpty()) {
            expect(gpu.gpu(), gpu.node(), Optional.empty(), new Owner.Recutting(id, deadline, true));
        }
    }

    /** A unit that is to come. One that goes may have had the same memory and thus the same name. */
    private void expect(Cuttable gpu, MigPlace place, Owner owner) {
        int size = place.profile().memorySlices();
        double share = (double) size / gpus.kind().memorySlices();
        MigInstance instance = new MigInstance(
                gpu.gpu(), place.profile().name(), place.start(), size, (long) (share * gpu.memoryBytes()), share);
        GpuId name = new GpuId("%s/%d:%d".formatted(gpu.gpu(), place.start(), size));
        expect(name, gpu.node(), Optional.of(instance), owner);
    }

    private void expect(GpuId name, NodeId node, Optional<MigInstance> instance, Owner owner) {
        builder.add(GpuState.free(name, node, Pool.INFERENCE, instance, builder.now(), builder.eventSequence())
                .with(owner, builder.now(), builder.eventSequence()));
    }

    /** Takes loans back that are in the way of instances, and stops replicas that sleep there. */
    private void takeBack(List<Instance> wanted, List<Unit> inTheWay) {
        inTheWay.stream().filter(Unit::isAsleep).forEach(this::stop);
        List<GpuId> lent = inTheWay.stream()
                .map(unit -> unit.state())
                .filter(unit -> unit.owner().isLent())
                .map(GpuState::gpuId)
                .toList();
        if (lent.isEmpty()) {
            return;
        }
        double served = wanted.stream().mapToDouble(this::capacity).sum();
        SlicePrice price = new SlicePrice(served, loss.of(inTheWay));
        String services =
                wanted.stream().map(Instance::service).distinct().sorted().collect(Collectors.joining(", "));
        ServiceId first = new ServiceId(wanted.get(0).service());
        Map<String, Double> numbers = Map.of(
                "servedPerSecond", price.servedPerSecond(),
                "lostGpuSeconds", price.lostGpuSeconds());
        new JobChanges(builder, settings)
                .takeBack(
                        lent,
                        returned -> reason(
                                "%s: its place goes to %s, where %s (plan: %s)"
                                        .formatted(returned.inWords(), services, price, plan.reason()),
                                first,
                                returned.numbers(numbers)));
    }

    private void stop(Unit asleep) {
        ServiceId service = asleep.state().owner().replicaOf().orElseThrow();
        String text =
                "%s idles 1 replica: its place goes to MIG instances (plan: %s)".formatted(service, plan.reason());
        new ReplicaChanges(builder, settings)
                .stop(service, List.of(asleep.state().gpuId()), reason(text, service, Map.of()));
    }

    private double capacity(Instance instance) {
        return plan.demand(new ServiceId(instance.service()))
                .map(demand -> demand.capacity(instance.place().profile().name()))
                .orElse(0.0);
    }

    private Reason reason(String text, ServiceId service, Map<String, Double> more) {
        Map<String, Double> numbers = new TreeMap<>(more);
        numbers.put("plannedPerSecond", rate(service));
        numbers.put("gpusPlanned", (double) plan.cuts().size());
        Optional<ServiceState> state = builder.services().get(service);
        state.ifPresent(known -> numbers.put("requestsPerSecond", known.arrivalsPerSecond()));
        return builder.because(
                ReasonCode.SLICES,
                text,
                numbers,
                state.map(ServiceState::rateEvents).orElse(List.of()));
    }
}
