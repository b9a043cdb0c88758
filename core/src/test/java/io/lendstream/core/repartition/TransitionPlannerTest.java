package io.lendstream.core.repartition;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.batching.Packing;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TransitionPlannerTest {
    @Seeds(2000)
    void noServiceEverFallsShortAndEveryLayoutIsLegal(RandomValues values) {
        Random random = values.random();
        Cases cases = Cases.random(random, values.intBetween(0, 2), values.doubleBetween(0, 1.3), false);

        Transition transition = cases.plan(false);
        Reached reached = cases.reached(transition, random);

        assertThat(reached.wrong()).isEmpty();
        for (Packing.Demand demand : cases.demands()) {
            assertThat(reached.worst().get(demand.service()))
                    .as("%s in %s", demand, transition)
                    .isGreaterThanOrEqualTo(cases.floor(demand));
        }
        assertThat(reached.end()).isEqualTo(transition.end());
        assertThat(transition.isComplete()).isEqualTo(transition.shortfalls().isEmpty());
    }

    @Seeds
    void theEndIsTheTargetWhereServicesMayFallShortAndItSaysByHowMuch(Random random) {
        Cases cases = Cases.random(random, random.nextInt(2), 1.2, false);

        Transition transition = cases.plan(true);
        Reached reached = cases.reached(transition, random);

        assertThat(reached.wrong()).isEmpty();
        assertIsTarget(cases, reached.end());
        assertThat(transition.end()).isEqualTo(transition.target()).isEqualTo(reached.end());
        assertThat(transition.free()).isEqualTo(unused(cases.gpus(), reached.end()));
        List<String> fallen = cases.demands().stream()
                .filter(demand -> reached.worst().get(demand.service()) < cases.floor(demand))
                .map(Packing.Demand::service)
                .sorted()
                .toList();
        assertThat(transition.shortfalls().stream().map(Transition.Shortfall::service))
                .isEqualTo(fallen);
    }

    @Seeds(500)
    void asManyEmptyGpusAsTheTargetHasAlwaysSuffice(Random random) {
        Cases cases = Cases.covered(random, 6, 1);

        Transition transition = cases.plan(false);

        assertThat(transition.isComplete()).isTrue();
        assertIsTarget(cases, cases.reached(transition, random).end());
    }

    /**
     * Always the same 1,000 cases: that GPUs keep a cut they have already may, very seldom, cost an instance elsewhere.
     */
    @Test
    void keepsAtLeastAsManyInstancesAsTakingCutsInTurnWhereAllWeighTheSame() {
        for (long seed : new SplittableRandom(1).longs(1000).toArray()) {
            Random random = new Random(seed);
            Cases cases = Cases.random(random, random.nextInt(2), 1, true);

            List<Instance> chosen = cases.plan(true).target();
            long kept = cases.running().stream()
                    .filter(new HashSet<>(chosen)::contains)
                    .count();
            List<Instance> inTurn = Cases.inTurn(cases.layouts(), cases.target(), cases.demands());
            long naive = cases.running().stream().filter(inTurn::contains).count();

            assertThat(kept).as("instances kept, seed %d", seed).isGreaterThanOrEqualTo(naive);
        }
    }

    @Seeds(200)
    void orderOfTheInputDoesNotMatter(Random random) {
        Cases cases = Cases.random(random, 1, .9, false);
        List<Instance> running = new ArrayList<>(cases.running());
        List<GpuId> gpus = new ArrayList<>(cases.gpus());
        Collections.shuffle(running, random);
        Collections.shuffle(gpus, random);

        assertThat(cases.planner(false).plan(gpus, running, cases.target(), cases.demands()))
                .isEqualTo(cases.plan(false));
    }

    private static void assertIsTarget(Cases cases, List<Instance> end) {
        Stream<List<String>> cuts = cases.target().gpus().stream()
                .filter(cut -> !cut.profiles().isEmpty())
                .map(cut -> Stream.iterate(0, i -> i < cut.profiles().size(), i -> i + 1)
                        .map(i -> cut.profiles().get(i).name()
                                + cases.demands().get(cut.services().get(i)).service())
                        .sorted()
                        .toList());
        var held = end.stream()
                .collect(Collectors.groupingBy(
                        Instance::gpu,
                        Collectors.mapping(
                                each -> each.place().profile().name() + each.service(), Collectors.toList())));
        assertThat(held.values().stream().map(cut -> cut.stream().sorted().toList()))
                .containsExactlyInAnyOrderElementsOf(cuts.toList());
    }

    private static List<GpuId> unused(List<GpuId> gpus, List<Instance> end) {
        return gpus.stream()
                .filter(gpu -> end.stream().noneMatch(each -> each.gpu().equals(gpu)))
                .toList();
    }
}
