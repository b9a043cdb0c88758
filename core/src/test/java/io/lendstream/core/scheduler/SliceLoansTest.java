package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SliceLoansTest {
    private Scenario story = Scenario.of("deepboot");

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }

    private Scenario cut(String... cuts) {
        story.migNode("cut", Pool.INFERENCE, cuts).service("chat", 0).rate("chat", 0);
        return story.settled();
    }

    /** Time passes with rates of 0, and all decisions are carried out. */
    private void pass(int quarters) {
        for (int i = 0; i < quarters; i++) {
            story.after(ofSeconds(15)).settled().rate("chat", 0).settled();
        }
    }

    @Test
    void aUnitKnowsWhatItIsCutFromAndHowLargeItIs() {
        cut("3g.40gb@4 2g.20gb@0");

        MigInstance instance =
                story.state().gpus().require(new GpuId("cut-g0/4:4")).instance().orElseThrow();
        assertThat(instance.gpu()).isEqualTo(new GpuId("cut-g0"));
        assertThat(instance.profile()).isEqualTo("3g.40gb");
        assertThat(instance.share()).isBetween(.49, .5);
    }

    @Test
    void aSmallJobBorrowsTheSmallestInstanceThatFits() {
        cut("3g.40gb@4 2g.20gb@0 1g.10gb@2").smallJob("small", 1, 12);

        pass(8);

        assertThat(story.owner("cut-g0/0:2")).isInstanceOf(Owner.Lent.class);
        assertThat(story.count("lent")).isEqualTo(1);
        Decision lend = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend)
                .findFirst()
                .orElseThrow();
        assertThat(lend.reason().text())
                .isEqualTo("small starts on the MIG instance 2g.20gb@0 of cut-g0 (19.5 GiB): no GPU is planned for it,"
                        + " it needs 12.0 GiB, and this is the smallest free instance that fits");
    }

    @Test
    void noOtherJobIsLentAnInstance() {
        cut("7g.80gb@0").job("unsaid", 1).rigidJob("two", 2);
        story.tell(story.jobRecord("small but rigid", 2, false).onSlicesOf(1L << 30));
        story.smallJob("large", 1, 80);

        pass(12);

        assertThat(story.count("lent")).isZero();
    }

    @Test
    void aJobIsLentAnInstanceOnceItsNodeHasTheHostMemory() {
        cut("1g.10gb@0").host("cut", 8, 16);
        HostNeed need = new HostNeed(Optional.empty(), Optional.of(40L << 30));
        story.tell(story.jobRecord("small", 1, true).onSlicesOf(8L << 30).needing(need));

        pass(12);
        assertThat(story.count("lent")).isZero();

        story.host("cut", 8, 64);
        pass(12);
        assertThat(story.count("lent")).isEqualTo(1);
    }

    @Test
    void aLoanOfAnInstanceIsRenewedWhileItLasts() {
        cut("1g.10gb@0").smallJob("small", 1, 8);

        pass(100);

        assertThat(story.owner("cut-g0/0:1")).isInstanceOf(Owner.Lent.class);
        assertThat(story.decisions()).anyMatch(decision -> decision.action() instanceof Action.Renew);
    }

    @Test
    void aLoanOfAnInstanceEndsWhenAllAreOrderedBack() {
        cut("1g.10gb@0").smallJob("small", 1, 8);
        pass(8);

        story.control(ControlCommand.Kind.RECLAIM_ALL);

        assertThat(story.lastKinds()).containsExactly("reclaim");
        story.settled();
        assertThat(story.count("free")).isEqualTo(1);
    }

    @Test
    void aJobOnAnInstanceMovesToGpusThatThePolicyGivesIt() {
        cut("1g.10gb@0").smallJob("small", 2, 8);
        pass(8);
        assertThat(story.job("small").isOnSlice()).isTrue();

        story.node("train", Pool.TRAINING, 2);
        pass(12);

        assertThat(story.job("small").isOnSlice()).isFalse();
        assertThat(story.job("small").allocation().gpus())
                .allMatch(gpu -> gpu.value().startsWith("train"));
        assertThat(story.owner("cut-g0/0:1")).isInstanceOf(Owner.Free.class);
        assertThat(story.decisions())
                .map(decision -> decision.reason().text())
                .anySatisfy(text -> assertThat(text)
                        .startsWith("small moves from its MIG instance to ")
                        .endsWith("; first it gives up 1 MIG instance"));
    }

    @Test
    void timeOnAnInstanceCountsAsItsShareOfAGpuAndItsStepsTeachNothing() {
        cut("1g.10gb@0").smallJob("small", 1, 8);
        pass(8);
        double before = story.job("small").attainedBy(story.now());
        var speed = story.job("small").learned().speed();

        pass(40);
        story.progress("small", JobPhase.RUNNING);

        double share = 9.5 / 80;
        assertThat(story.job("small").attainedBy(story.now()) - before).isBetween(599 * share, 601 * share);
        assertThat(story.job("small").learned().speed()).isEqualTo(speed);
    }

    @Test
    void onlyAShareOfInferenceIsLentInInstancesToo() {
        SchedulerSettings half = SchedulerSettings.of(java.util.Map.of("max-share-lent", "0.3"));
        story = new Scenario(new Scheduler(io.lendstream.core.policy.catalogue.Policies.parse("deepboot"), half));
        cut("1g.10gb@0 1g.10gb@1 1g.10gb@2 1g.10gb@3 1g.10gb@4");
        List.of("a", "b", "c").forEach(job -> story.smallJob(job, 1, 8));

        pass(12);

        assertThat(story.count("lent")).isEqualTo(1);
    }

    @Test
    void anInstanceWhoseCutChangesWhileLentIsQuarantined() {
        cut("4g.40gb@0").smallJob("small", 1, 30);
        pass(8);
        assertThat(story.owner("cut-g0/0:4")).isInstanceOf(Owner.Lent.class);

        story.migNode("cut", Pool.INFERENCE, "3g.40gb@0").settled();

        assertThat(story.owner("cut-g0/0:4")).isInstanceOf(Owner.Quarantined.class);
        story.after(ofMinutes(1));
    }
}
