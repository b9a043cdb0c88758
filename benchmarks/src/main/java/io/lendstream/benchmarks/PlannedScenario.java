package io.lendstream.benchmarks;

import io.lendstream.core.batching.BatchPlan;
import io.lendstream.simulator.batching.PlanStudy;
import java.util.OptionalInt;

/**
 * One of ParvaGPU's scenarios, planned in several ways.
 *
 * @param all from all measurements
 * @param few from a few probes of each model
 * @param careless by formula, without any margin
 * @param carelessWorst the worst p99 of that, as a share of the objective
 * @param exact the fewest GPUs; empty where they are not proved
 */
record PlannedScenario(
        int number,
        PlanStudy.Result all,
        PlanStudy.Result few,
        BatchPlan careless,
        double carelessWorst,
        OptionalInt exact,
        int published) {
    int gpus() {
        return all.plan().gpus();
    }

    /** The number of GPUs without MIG. */
    int off() {
        return all.comparison().migOff().orElseThrow();
    }

    static void printHeader() {
        System.out.println("ParvaGPU's scenarios, A100-80GB; p99 as a share of the objective");
        System.out.printf(
                "%8s %5s %6s %10s %6s %6s | %7s %6s %7s %8s | %14s %13s | %6s %5s%n",
                "scenario",
                "GPUs",
                "slices",
                "exact",
                "LP",
                "p99",
                "MIG off",
                "shared",
                "all 1g",
                "ParvaGPU",
                "half objective",
                "no margin",
                "probes",
                "p99");
    }

    void print() {
        System.out.printf(
                "%8d %5d %6d %10s %6.2f %6.2f | %7d %6.2f %7d %8d | %6d at %4.2f %5d at %4.2f | %6d %5.2f%n",
                number,
                gpus(),
                all.plan().packing().slices(),
                exact.isPresent() ? String.valueOf(exact.getAsInt()) : "not proved",
                all.plan().bounds().linear(),
                all.worst(all.played()),
                off(),
                all.comparison().migOffFractional().orElseThrow(),
                all.comparison().uniform().getOrDefault("1g.10gb", 0),
                published,
                all.comparison().halfObjective(),
                all.comparison().halfObjectiveWorst(),
                careless.gpus(),
                carelessWorst,
                few.plan().gpus(),
                few.worst(few.played()));
    }
}
