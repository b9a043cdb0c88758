package io.lendstream.core.repartition;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;

/** Plays a transition's steps and finds their faults: an oracle that does not know how they were found. */
final class Reached {
    private final MigLayouts layouts;
    private final List<Packing.Demand> demands;
    private final TreeSet<Instance> present;
    private final TreeSet<Instance> serving;
    private final TreeSet<Instance> draining = new TreeSet<>();
    private final Map<String, Double> worst = new TreeMap<>();
    private final List<String> wrong = new ArrayList<>();

    Reached(MigLayouts layouts, List<Packing.Demand> demands, Collection<Instance> running) {
        this.layouts = layouts;
        this.demands = demands;
        this.present = new TreeSet<>(running);
        this.serving = new TreeSet<>(running);
        note();
    }

    /** Every step in turn, those of a stage in an order of chance. */
    Reached after(List<RepartitionStep> steps, Random random) {
        TreeMap<Integer, List<RepartitionStep>> stages = new TreeMap<>();
        steps.forEach(step ->
                stages.computeIfAbsent(step.stage(), stage -> new ArrayList<>()).add(step));
        stages.values().forEach(stage -> {
            Collections.shuffle(stage, random);
            stage.forEach(this::play);
        });
        return this;
    }

    private void play(RepartitionStep step) {
        Instance instance = step.instance();
        boolean possible;
        if (step instanceof RepartitionStep.Create) {
            possible = present.add(instance);
        } else if (step instanceof RepartitionStep.Warm) {
            possible = present.contains(instance) && !draining.contains(instance) && serving.add(instance);
        } else if (step instanceof RepartitionStep.Drain) {
            possible = serving.remove(instance) && draining.add(instance);
        } else {
            possible = draining.remove(instance) && present.remove(instance);
        }
        List<MigPlace> places = present.stream()
                .filter(other -> other.gpu().equals(instance.gpu()))
                .map(Instance::place)
                .toList();
        if (!possible || !layouts.isLegal(places)) {
            wrong.add("%s: %s".formatted(step, places));
        }
        note();
    }

    private void note() {
        demands.forEach(demand -> worst.merge(demand.service(), capacity(demand, serving), Math::min));
    }

    static double capacity(Packing.Demand demand, Collection<Instance> instances) {
        return instances.stream()
                .filter(instance -> instance.service().equals(demand.service()))
                .mapToDouble(instance ->
                        demand.capacities().getOrDefault(instance.place().profile(), 0.0))
                .sum();
    }

    /** Steps that could not be made or left an illegal layout. */
    List<String> wrong() {
        return wrong;
    }

    /** The least that ever served, by service. */
    Map<String, Double> worst() {
        return worst;
    }

    /** The instances at the end; all of them must serve. */
    List<Instance> end() {
        return serving.equals(present) ? List.copyOf(present) : List.of();
    }
}
