package io.lendstream.core.policy.jct;

import static io.lendstream.core.policy.Views.cluster;
import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.lendable;
import static io.lendstream.core.policy.Views.pace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Deadline;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Pace;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.Views;
import io.lendstream.core.policy.WrappedJob;
import io.lendstream.core.policy.catalogue.Policies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LendstreamTest {
    private final Policy lendstream = Policies.parse("lendstream");

    private static JobView runs(String name, double seconds, double exponent, GpuId... held) {
        return aged(name, Duration.ZERO, 0, pace(seconds, exponent), held);
    }

    private static JobView aged(String name, Duration age, double gpuSeconds, Pace pace, GpuId... held) {
        return new DescribedJob(
                job(name),
                Views.NOW.minus(age),
                new TrainingJob.Scaling(1, 1, 8, true),
                List.of(held),
                new DescribedJob.Usage(held.length, 0, gpuSeconds),
                Optional.empty(),
                pace,
                Optional.empty(),
                Views.COSTS);
    }

    /** With 2 of 4 GPUs: 3,600 s and 2,500 s to go instead of 2,500 s, so 2.44 times; the other is not late. */
    @Test
    void aJobThatHadLessThanAnEqualShareWeighsMore() {
        Duration hour = Duration.ofHours(1);
        JobView late = aged("late", hour, 0, pace(5000, 1));
        JobView served = aged("served", hour, 2 * 3600, pace(1000, 1));

        Plan plan = lendstream.plan(cluster(List.of(late, served), 4));

        assertThat(plan.targets().get(job("late"))).hasSize(4);
        assertThat(plan.reasons().get(job("late")).text())
                .contains("weight 5.95 since it had less than an equal share (4 GPUs, 2 jobs)");
        assertThat(plan.reasons().get(job("late")).numbers()).containsEntry("lateness", 6100 / 2500.0);
        assertThat(plan.targets().get(job("served"))).isEmpty();
    }

    /** A job as described, with a deadline. */
    private record Due(JobView whole, Duration left, DeadlineKind kind) implements WrappedJob {
        @Override
        public Optional<Deadline> deadline() {
            return Optional.of(new Deadline(Views.NOW.plus(left), kind, 0));
        }
    }

    /** Alike but for a deadline in 1,000 s, which the longer one misses with 2 of 4 GPUs: 1,500 s. */
    @ParameterizedTest
    @EnumSource(names = {"SOFT", "HARD"})
    void aJobThatWouldMissItsDeadlineWeighsMore(DeadlineKind kind) {
        JobView due = new Due(runs("due", 3000, 1), Duration.ofSeconds(1000), kind);
        JobView shorter = runs("shorter", 2900, 1);

        Plan plan = lendstream.plan(cluster(List.of(due, shorter), 4));

        assertThat(plan.targets().get(job("due"))).hasSize(4);
        assertThat(plan.reasons().get(job("due")).text())
                .contains("weight 2.25 since it would miss its deadline with an equal share (4 GPUs, 2 jobs)");
        assertThat(plan.reasons().get(job("due")).numbers()).containsEntry("deadlinePressure", 1.5);
        assertThat(lendstream
                        .plan(cluster(List.of(runs("due", 3000, 1), shorter), 4))
                        .targets()
                        .get(job("shorter")))
                .hasSize(4);
    }

    /** A deadline that is far away, or has passed, changes no weight. One that cannot be met changes it up to a bound. */
    @Test
    void aDeadlineThatIsEasyOrLostCountsWithinBounds() {
        JobView runs = runs("due", 3000, 1);
        assertThat(Lateness.of(new Due(runs, Duration.ofDays(1), DeadlineKind.SOFT), 2, Views.NOW)
                        .factor())
                .isEqualTo(1);
        for (Duration left : List.of(Duration.ZERO, Duration.ofDays(-1))) {
            assertThat(Lateness.of(new Due(runs, left, DeadlineKind.SOFT), 2, Views.NOW)
                            .factor())
                    .isEqualTo(1);
        }
        assertThat(Lateness.of(new Due(runs, Duration.ofSeconds(1), DeadlineKind.SOFT), 2, Views.NOW)
                        .factor())
                .isEqualTo(16);
        JobView unknown = aged("a", Duration.ofHours(1), 0, JctObjectiveTest.guess(pace(1, 1)));
        assertThat(Lateness.of(new Due(unknown, Duration.ZERO, DeadlineKind.SOFT), 2, Views.NOW))
                .isEqualTo(Lateness.NONE);
    }

    /** It waits for an hour, and the guess is a second of work: late 3,600 times. */
    @Test
    void aJobThatNeverSaidHowMuchWorkItHasIsNeverLate() {
        JobView unknown = aged("a", Duration.ofHours(1), 0, JctObjectiveTest.guess(pace(1, 1)));

        Plan plan = lendstream.plan(cluster(List.of(unknown), 1));

        assertThat(plan.reasons().get(job("a")).numbers()).containsEntry("lateness", 1.0);
        assertThat(plan.reasons().get(job("a")).text()).contains("weight 1.00 (1 GPU, 1 job)");
    }

    /** By its usual speed it would be the longest, and wait until the others have ended. */
    @Test
    void aJobWhoseSpeedIsNotKnownStartsSoon() {
        JobView known = runs("known", 1000, 1);
        JobView unknown = unknown(runs("unknown", 9000, 1));

        Plan plan = lendstream.plan(cluster(List.of(known, unknown), 1));

        assertThat(plan.targets().get(job("unknown"))).hasSize(1);
        assertThat(plan.reasons().get(job("unknown")).text())
                .contains("it has reported no step times yet, so its speed is not known");
    }

    /** Without reports it counts by its GPU time, as a job without a total does. */
    @Test
    void aJobThatTellsNoSpeedForLongGivesWay() {
        JobView known = runs("known", 1000, 1);
        JobView silent = unknown(aged("silent", Duration.ofHours(1), 3600, pace(9000, 1), gpu(0, 0)));

        Plan plan = lendstream.plan(cluster(List.of(known, silent), 1));

        assertThat(plan.targets().get(job("known"))).hasSize(1);
        assertThat(plan.targets().get(job("silent"))).isEmpty();
    }

    private static JobView unknown(JobView known) {
        return new WrappedJob() {
            @Override
            public JobView whole() {
                return known;
            }

            @Override
            public boolean isSpeedKnown() {
                return false;
            }
        };
    }

    @Test
    void shortJobsComeFirstAndJobsThatScaleBadlyShare() {
        ClusterView scaling = cluster(List.of(runs("long", 5000, 1), runs("short", 1000, 1)), 4);
        ClusterView sharing = cluster(List.of(runs("long", 5000, .5), runs("short", 1000, .5)), 4);

        assertThat(lendstream.plan(scaling).targets().get(job("short"))).hasSize(4);
        assertThat(lendstream.plan(scaling).targets().get(job("long"))).isEmpty();
        assertThat(lendstream.plan(sharing).targets().get(job("short"))).hasSize(3);
        assertThat(lendstream.plan(sharing).targets().get(job("long"))).hasSize(1);
    }

    /** From 1 to 2 GPUs: a pause of 3 + 27 / 2 = 16 s, which pays back in 16 x 2 / (2 - 1) s. */
    @Test
    void theReasonNamesWorkSpeedAndPayback() {
        Plan plan = lendstream.plan(cluster(List.of(runs("a", 2000, 1, gpu(0, 0))), 2));

        assertThat(plan.reasons().get(job("a")).text())
                .isEqualTo(
                        "a grows from 1 to 2 GPUs: 2.0 times as fast as on 1 GPU instead of 1.0 times, for a pause of 16 s"
                                + " that pays back in 32 s, so jobs should end soonest on average; 2000 s of its work remain on"
                                + " 1 GPU, weight 1.00 (2 GPUs, 1 job)");
        assertThat(plan.reasons().get(job("a")).numbers())
                .containsEntry("paybackSeconds", 32.0)
                .containsEntry("lateness", 1.0)
                .containsEntry("remainingSecondsOnOne", 2000.0)
                .containsEntry("speedAfter", 2.0);
    }

    @Test
    void theReasonOfAJobThatStopsNamesTheOthers() {
        Plan plan = lendstream.plan(cluster(List.of(runs("long", 5000, 1, gpu(0, 0)), runs("short", 1000, 1)), 1));

        assertThat(plan.targets().get(job("long"))).isEmpty();
        assertThat(plan.reasons().get(job("long")).text())
                .contains("other jobs shorten all completion times more with the GPUs");
    }

    /** Both would lose half of their speed; the short one weighs more. */
    @Test
    void theLoanOfTheJobWithMoreWorkIsTakenFirst() {
        ClusterView view = lendable(
                List.of(runs("long", 5000, 1, gpu(0, 0), gpu(1, 0)), runs("short", 1000, 1, gpu(0, 1), gpu(1, 1))),
                2,
                2);

        assertThat(lendstream.victims(view, 1)).containsExactly(gpu(1, 0));
        assertThat(lendstream.victims(view, 2)).containsExactly(gpu(1, 0), gpu(1, 1));
        assertThat(lendstream.losses(view, 1).get(0).measure())
                .isEqualTo("loss of training speed (1 = the speed on 1 GPU of the job with the most work left,"
                        + " if it is not late)");
    }

    /** Weights 1 and the root of 3, speedups roots of the GPUs, starts of 30 s: 3 + 1 are worth 3.85, 2 + 2 3.75. */
    @Test
    void explainsTheSizesThatItWeighed() {
        ClusterView view = cluster(List.of(runs("long", 5000, .5), runs("short", 1000, .5)), 4);

        List<Alternative> sizes = lendstream.sizes(view, job("short"));

        assertThat(sizes).hasSize(5);
        assertThat(sizes)
                .filteredOn(Alternative::chosen)
                .extracting(Alternative::size)
                .containsExactly(3);
        assertThat(sizes.get(2).why()).isEqualTo("the weighted sum of speeds over all jobs would be 0.094 lower");
        assertThat(lendstream.sizes(view, job("unknown"))).isEmpty();
    }

    @Test
    void refusesSettingsThatMeanNothing() {
        assertThatThrownBy(() -> Policies.parse("lendstream:scaling=1"))
                .hasMessage("scaling of policy lendstream must be at least 0 and at most 0.95, but was 1.0");
        assertThatThrownBy(() -> Policies.parse("lendstream:wait-price=dear"))
                .hasMessage("wait-price of policy lendstream must be a number of at least 0, but was 'dear'");
    }

    @Test
    void theSpecNamesWhatIsNotAsUsual() {
        assertThat(lendstream.spec()).isEqualTo("lendstream:plan-every=60s");
        String other =
                "lendstream:plan-every=30s:wait-price=2.0:scaling=0.25:payback=100s:plan-after-jobs=1.5s:protect-scale=1.0";
        assertThat(Policies.parse(other).spec()).isEqualTo(other);
        assertThat(Policies.parse(Policies.parse(other).spec())).isEqualTo(Policies.parse(other));
    }

    /** Only the work done is known of them: the second one must not replace the first whenever that has done more. */
    @Test
    void jobsThatNeverSaidHowMuchWorkTheyHaveDoNotTakeTurns() {
        for (double done : new double[] {1, 50, 90, 120}) {
            JobView first = unknown("first", done, gpu(0, 0));
            JobView second = unknown("second", 1);

            Plan plan = lendstream.plan(cluster(List.of(first, second), 1));

            boolean hasDoneMore = done > 64;
            assertThat(plan.targets().get(job(hasDoneMore ? "second" : "first")))
                    .as("%s s", done)
                    .hasSize(1);
        }
        Plan alike = lendstream.plan(cluster(List.of(unknown("first", 100), unknown("second", 70, gpu(0, 0))), 1));
        assertThat(alike.targets().get(job("second"))).containsExactly(gpu(0, 0));
    }

    /** Each waits while the other runs. A turn costs a start, so the next one comes when twice as much was done. */
    @Test
    void turnsOfJobsThatNeverSaidHowMuchWorkTheyHaveGetRarer() {
        double[] done = {300, 1};
        int runs = 0;
        int turns = 0;
        int late = 0;
        for (int minute = 0; minute < 120; minute++) {
            Duration age = Duration.ofMinutes(5L + minute);
            List<JobView> jobs = new ArrayList<>();
            for (int i = 0; i < done.length; i++) {
                GpuId[] held = runs == i ? new GpuId[] {gpu(0, 0)} : new GpuId[0];
                jobs.add(aged("job-" + i, age, done[i], JctObjectiveTest.guess(pace(done[i], 1)), held));
            }
            Plan plan = lendstream.plan(cluster(jobs, 1));
            for (int i = 0; i < done.length; i++) {
                if (runs != i
                        && !plan.targets()
                                .getOrDefault(job("job-" + i), List.of())
                                .isEmpty()) {
                    runs = i;
                    turns++;
                    late += minute >= 60 ? 1 : 0;
                    break;
                }
            }
            done[runs] += 60;
        }

        assertThat(turns).isBetween(1, 8);
        assertThat(late).isLessThanOrEqualTo(2);
    }

    private static JobView unknown(String name, double done, GpuId... held) {
        return aged(name, Duration.ZERO, 0, JctObjectiveTest.guess(pace(done, 1)), held);
    }

    @Test
    void ofEqualJobsTheFirstGoesFirst() {
        Plan plan = lendstream.plan(cluster(List.of(runs("old", 1000, 1), runs("new", 1000, 1)), 1));

        assertThat(plan.targets().get(job("old"))).hasSize(1);
    }

    @Test
    void withoutAPriceOfWaitsForecastsDoNotCount() {
        assertThat(Policies.parse("lendstream:wait-price=0").info().looksAhead())
                .isFalse();
        assertThat(lendstream.info().looksAhead()).isTrue();
    }
}
