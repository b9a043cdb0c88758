package io.lendstream.core.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.SpeedOnKind;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.KindId;
import io.lendstream.core.seeds.Seeds;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KindGoodputTest {
    private static final KindId T4 = new KindId("Tesla-T4-16GB");
    private static final KindId A100 = new KindId("A100-SXM4-80GB");
    private static final KindId L4 = new KindId("L4-24GB");

    private static TrainingJob job(KindNeeds needs) {
        return Scenario.of("deepboot").jobRecord("a", 8, true).onKinds(needs);
    }

    private static KindNeeds onT4(KindTraits... traits) {
        return new KindNeeds(List.of(), Optional.of(T4), Optional.empty(), List.of(traits));
    }

    /** A report of steps that take {@code factor} times as long as the profile says. */
    private static TrainingProgress step(TrainingJob job, KindId kind, double factor) {
        ThroughputParameters speed = job.traits().profile().throughput();
        return new TrainingProgress(
                job.job(),
                job.domain(),
                job.submittedAt(),
                JobPhase.RUNNING,
                1,
                Optional.empty(),
                new TrainingProgress.Parallelism(1, 2, 64, 0),
                new TrainingProgress.StepTiming(
                        Optional.of(factor * speed.stepSeconds(1, 2, 64)),
                        Optional.of(factor * speed.networkSeconds(1, 2))),
                TrainingProgress.GradientStatistics.NOT_MEASURED,
                Optional.of(kind));
    }

    @Seeds(100)
    void aRatioScalesTheGoodputAndKeepsTheBestBatch(Random random) {
        KindRatio ratio = new KindRatio(0.2 + 5 * random.nextDouble(), random.nextDouble() / 2);
        JobState state = JobState.of(job(onT4(KindTraits.of(A100, ratio))), 1);
        int gpus = 1 + random.nextInt(16);
        int nodes = 1 + random.nextInt(gpus);

        SpeedOnKind there = state.goodput().on(A100);

        assertThat(there.on(nodes, gpus))
                .isCloseTo(ratio.least() * state.goodput().ofProfile().on(nodes, gpus), within(1e-9));
        assertThat(there.known()).isSameAs(state.goodput().ofProfile());
        assertThat(state.goodput().on(T4).on(nodes, gpus))
                .isEqualTo(state.goodput().ofProfile().on(nodes, gpus));
        assertThat(state.goodput().ratioOn(A100)).contains(ratio);
        assertThat(state.goodput().ratioOn(T4)).isEmpty();
    }

    @Test
    void aDeclaredSpeedIsUsedAsItIs() {
        ThroughputParameters declared = new ThroughputParameters(0.01, 0.001, 0.05, 0.001, 0.02, 0.0005, 1.5);
        JobState state = JobState.of(
                job(onT4(new KindTraits(
                        A100, Optional.of(declared), Optional.of(new KindRatio(9, 0)), Optional.empty()))),
                1);

        assertThat(state.goodput().on(A100).known().model().throughput()).isEqualTo(declared);
        assertThat(state.goodput().on(A100).factor()).isEqualTo(1);
        assertThat(state.goodput().ratioOn(A100)).isEmpty();
    }

    @Test
    void aKindOfWhichNothingIsKnownCountsHalf() {
        JobState state = JobState.of(job(onT4()), 1);

        assertThat(state.goodput().on(L4).factor()).isEqualTo(0.5);
    }

    @Test
    void measuredStepsReplaceARatioOnTheirKindOnly() {
        TrainingJob job = job(onT4(KindTraits.of(A100, new KindRatio(2, 0.2))));
        JobState before = JobState.of(job, 1);

        JobState after = before.observed(step(job, A100, 0.25), 2, FitRule.COARSE);

        assertThat(after.goodput().on(A100).factor()).isEqualTo(1);
        assertThat(after.goodput().on(A100).known().model().throughput().stepSeconds(1, 2, 64))
                .isCloseTo(
                        0.25 * job.traits().profile().throughput().stepSeconds(1, 2, 64),
                        within(0.02 * job.traits().profile().throughput().stepSeconds(1, 2, 64)));
        assertThat(after.goodput().ratioOn(A100)).isEmpty();
        assertThat(after.model()).as("the speed on T4").isEqualTo(before.model());
        assertThat(after.learned().byKind())
                .singleElement()
                .satisfies(known -> assertThat(known.kind()).isEqualTo(A100));
    }

    @Test
    void aStepAsExpectedKeepsWhatWasWorkedOut() {
        TrainingJob job = job(onT4(KindTraits.of(A100, new KindRatio(2, 0.2))));
        JobState measured = JobState.of(job, 1).observed(step(job, A100, 0.5), 2, FitRule.COARSE);

        JobState again = measured.observed(step(job, A100, 0.51), 3, FitRule.COARSE);

        assertThat(again.goodput()).isSameAs(measured.goodput());
    }

    @Test
    void theFirstKindOfAJobIsThatOfItsProfile() {
        TrainingJob job = job(KindNeeds.ANY);
        JobState unknown = JobState.of(job, 1);
        assertThat(unknown.goodput().on(A100).factor()).isEqualTo(1);

        JobState known = unknown.observed(step(job, T4, 3), 2, FitRule.COARSE);

        assertThat(known.learned().speedKind()).contains(T4);
        assertThat(known.goodput().on(T4).known()).isSameAs(known.goodput().ofProfile());
        assertThat(known.goodput().on(A100).factor()).isEqualTo(0.5);
    }

    @Test
    void lessMemoryMeansSmallerBatches() {
        TrainingJob job = job(new KindNeeds(List.of(), Optional.of(A100), Optional.empty(), List.of()));

        assertThat(job.batchOn(A100)).contains(job.traits().batch());
        assertThat(job.batchOn(T4).orElseThrow().localMax()).isEqualTo(1024 * 16 / 80);
        assertThat(JobState.of(job, 1)
                        .goodput()
                        .on(T4)
                        .known()
                        .best(1, 1)
                        .batch()
                        .local())
                .isLessThanOrEqualTo(1024 * 16 / 80);
        assertThat(job.excludes(new KindId("K80-2GB")))
                .as("25 samples, but at least 32")
                .isTrue();
    }

    @Test
    void aJobExcludesKindsByNameAndMemory() {
        TrainingJob named = job(new KindNeeds(List.of(A100), Optional.empty(), Optional.empty(), List.of()));
        TrainingJob large = job(new KindNeeds(List.of(), Optional.empty(), Optional.of(20L << 30), List.of()));

        assertThat(named.excludes(A100)).isFalse();
        assertThat(named.excludes(T4)).isTrue();
        assertThat(large.excludes(L4)).isFalse();
        assertThat(large.excludes(T4)).isTrue();
        assertThat(job(KindNeeds.ANY).excludes(T4)).isFalse();
    }

    @Test
    void aDeclarationOfOtherKindsKeepsTheKindOfTheProfile() {
        TrainingJob job = job(KindNeeds.ANY);
        JobState measured = JobState.of(job, 1).observed(step(job, T4, 3), 2, FitRule.COARSE);

        JobState declared = measured.described(twiceAsFastOn(A100, job), 3);

        assertThat(declared.learned().speedKind()).contains(T4);
        assertThat(declared.goodput().on(T4).known())
                .isSameAs(declared.goodput().ofProfile());
        assertThat(declared.goodput().on(L4).factor()).as("not the profile").isEqualTo(0.5);
    }

    @Test
    void aRatioOfTheMeasuredKindIsNotAddedToItsSteps() {
        TrainingJob job = job(KindNeeds.ANY);
        JobState measured = JobState.of(job, 1).observed(step(job, T4, 0.5), 2, FitRule.COARSE);

        JobState declared = measured.described(twiceAsFastOn(T4, job), 3);

        assertThat(declared.model().throughput())
                .isEqualTo(job.traits().profile().throughput());
        assertThat(declared.goodput().on(T4).factor()).isEqualTo(2);
    }

    private static TrainingJob twiceAsFastOn(KindId kind, TrainingJob job) {
        return job.onKinds(new KindNeeds(
                List.of(), Optional.empty(), Optional.empty(), List.of(KindTraits.of(kind, new KindRatio(2, 0)))));
    }

    @Test
    void aNewDeclarationForgetsMeasurementsOfKinds() {
        TrainingJob job = job(onT4(KindTraits.of(A100, new KindRatio(2, 0.2))));
        JobState measured = JobState.of(job, 1).observed(step(job, A100, 0.25), 2, FitRule.COARSE);

        assertThat(measured.described(job, 3).learned()).isEqualTo(measured.learned());
        assertThat(measured.described(job.onKinds(onT4(KindTraits.of(A100, new KindRatio(3, 0.2)))), 3)
                        .learned()
                        .byKind())
                .isEmpty();
    }
}
