package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.Moment.NOW;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which phases events concern, where five GPUs of inference are free and a service needs none of them. */
class WorkDueTest {
    private static final Scheduler SCHEDULER = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);

    private final Moment moment = new Moment().node("infer", Pool.INFERENCE, 5).service("chat", 0);

    @BeforeEach
    void aPlanIsDueInAMinute() {
        moment.set(builder -> builder.nextPlanAt(NOW.plusSeconds(60)));
    }

    private static Set<Phase> due(StepBuilder step) {
        return WorkDue.BY_EVENT.after(SCHEDULER, step);
    }

    private Event rate() {
        return moment.rateOf("chat", 5, ofSeconds(15), Optional.empty());
    }

    private Event report() {
        return moment.report(Moment.EARLIER, Outcome.APPLIED, Moment.job("a"));
    }

    private boolean isAlone(Duration after) {
        StepBuilder step = moment.later(after).draft(rate(), StepListener.NONE);
        moment.later(after.negated());
        return isAlone(step);
    }

    private static boolean isAlone(StepBuilder step) {
        return WorkDue.BY_EVENT.isAlone(WorkDue.Situation.of(SCHEDULER, step));
    }

    private boolean isAlone() {
        return isAlone(Duration.ZERO);
    }

    private boolean noServiceWaits(Scheduler scheduler, StepBuilder step) {
        return !WorkDue.BY_EVENT.concernsServices(WorkDue.Situation.of(scheduler, step));
    }

    private boolean noServiceWaits() {
        return noServiceWaits(SCHEDULER, step());
    }

    /** After a report that has changed nothing yet. */
    private StepBuilder step() {
        return moment.draft(report(), StepListener.NONE);
    }

    @Test
    void aTickConcernsEveryPhaseThatIsDue() {
        assertThat(due(moment.after(ofMillis(59_999))))
                .isEqualTo(EnumSet.complementOf(EnumSet.of(Phase.HEARD_SERVICE, Phase.QUOTA, Phase.PLAN, Phase.CUTS)));
        assertThat(due(moment.after(ofMinutes(1)))).contains(Phase.PLAN);
    }

    @Test
    void aRateOfAServiceThatHasWhatItNeedsConcernsNothing() {
        moment.owned(Moment.serving("chat"), "infer-g0").rate("chat", 5);

        assertThat(due(moment.observed(rate()))).isEmpty();
    }

    @Test
    void aRateConcernsServicesAlsoIfTheQueueOfItsServiceRefusesReplicas() {
        moment.owned(Moment.serving("chat"), "infer-g0").rate("chat", 5);
        QueueId team = new QueueId("team-a");
        ClusterQueue queue = new ClusterQueue(team, Scenario.DOMAIN, NOW, Optional.empty(), 1, List.of());
        moment.set(builder -> builder.put(QueueState.of(queue).refusingReplicas(2)));

        assertThat(due(moment.observed(rate()))).as("the queue of others").isEmpty();

        moment.set(builder -> {
            ServiceState chat = builder.services().require(new ServiceId("chat"));
            builder.put(chat.describedBy(chat.spec().in(team)));
        });

        assertThat(due(moment.observed(rate()))).contains(Phase.ALL_SERVICES);
    }

    @Test
    void aRateOfAServiceThatLacksAReplicaConcernsThatServiceAlone() {
        assertThat(due(moment.observed(rate()))).contains(Phase.HEARD_SERVICE).doesNotContain(Phase.ALL_SERVICES);
        assertThat(WorkDue.ALWAYS.after(SCHEDULER, moment.observed(rate())))
                .contains(Phase.ALL_SERVICES)
                .doesNotContain(Phase.HEARD_SERVICE);
    }

    @Test
    void theFirstEventAfterADeadlineConcernsAllServicesAndDeadlines() {
        moment.owned(Moment.serving("chat"), "infer-g0")
                .rate("chat", 5)
                .owned(Moment.binding(Moment.service("chat"), ofSeconds(16)), "infer-g1");

        assertThat(due(moment.later(ofMillis(15_999)).observed(report()))).isEmpty();
        assertThat(due(moment.later(ofMillis(1)).observed(report()))).contains(Phase.DEADLINES, Phase.ALL_SERVICES);
    }

    @Test
    void aReportConcernsSomethingWhereItHasChangedAnOwner() {
        assertThat(due(step())).isEmpty();
        StepBuilder step = step();
        step.own(new GpuId("infer-g0"), Moment.serving("chat"));
        assertThat(due(step)).contains(Phase.MOVES, Phase.LEASES, Phase.ALL_SERVICES);
    }

    @Test
    void whileMostNodesAreSilentOnlyDeadlinesAndPlansAreDue() {
        moment.sampled("infer");
        Tick late = new Tick(Scenario.DOMAIN, NOW.plus(ofMinutes(10)));

        assertThat(due(moment.draft(late, StepListener.NONE)))
                .containsExactly(Phase.DEADLINES, Phase.LOST_GPUS, Phase.PLAN, Phase.NEXT_PLAN);
        assertThat(WorkDue.ALWAYS.after(SCHEDULER, moment.draft(late, StepListener.NONE)))
                .containsExactly(Phase.DEADLINES, Phase.LOST_GPUS, Phase.PLAN, Phase.NEXT_PLAN);
    }

    @Test
    void aServiceIsServedAloneUntilAPlanIsDue() {
        assertThat(isAlone(ofMillis(59_999))).isTrue();
        assertThat(isAlone(ofMinutes(1))).isFalse();
    }

    @Test
    void aServiceIsNotServedAloneWhileAReplicaSleepsOrAGpuIsAboutToBeFree() {
        moment.owned(Moment.warm("chat", ofSeconds(30)), "infer-g0");
        assertThat(isAlone()).isTrue();
        moment.owned(Moment.sleeping("chat"), "infer-g0");
        assertThat(isAlone()).isFalse();

        moment.owned(Moment.serving("chat"), "infer-g0").owned(Moment.lent("a", ofMinutes(10)), "infer-g1");
        assertThat(isAlone()).isTrue();
        moment.owned(Moment.releasing(Moment.job("a"), ofSeconds(90)), "infer-g1");
        assertThat(isAlone()).isFalse();
    }

    @Test
    void aServiceIsNotServedAloneWhereAnythingElseHasHappened() {
        StepBuilder step = moment.draft(rate(), StepListener.NONE);
        assertThat(isAlone(step)).isTrue();
        step.own(new GpuId("infer-g0"), Moment.serving("chat"));
        assertThat(isAlone(step)).isFalse();

        moment.set(any -> any.slices(plan()));
        assertThat(isAlone()).isFalse();
    }

    @Test
    void noServiceWaitsWhereGpusAreFreeOrOnLoan() {
        assertThat(noServiceWaits()).isTrue();
        moment.owned(Moment.serving("chat"), "infer-g0", "infer-g1", "infer-g2", "infer-g3", "infer-g4");
        assertThat(noServiceWaits()).isFalse();

        moment.owned(Moment.lent("a", ofMinutes(10)), "infer-g0");
        assertThat(noServiceWaits()).isTrue();
        Scheduler lendsNothing =
                new Scheduler(SCHEDULER.policy(), SCHEDULER.settings().withLending(false));
        assertThat(noServiceWaits(lendsNothing, step())).isFalse();
        moment.later(ofMinutes(1));
        assertThat(noServiceWaits()).as("a plan is due").isFalse();
        moment.later(ofMinutes(1).negated()).status("infer", NodeStatus.PAUSED);
        assertThat(noServiceWaits()).as("the loan cannot be reached").isFalse();
    }

    @Test
    void someServiceMayWaitForAGpuOfInferenceThatIsFreed() {
        moment.node("train", Pool.TRAINING, 1)
                .owned(Moment.releasing(Moment.job("a"), ofSeconds(90)), "infer-g0", "train-g0");

        StepBuilder trainings = step();
        trainings.own(new GpuId("train-g0"), new Owner.Free());
        StepBuilder inferences = step();
        inferences.own(new GpuId("infer-g0"), new Owner.Free());
        StepBuilder lost = step();
        lost.invalidatePlan();

        assertThat(noServiceWaits(SCHEDULER, trainings)).isTrue();
        assertThat(noServiceWaits(SCHEDULER, inferences)).isFalse();
        assertThat(noServiceWaits(SCHEDULER, lost)).isFalse();
        moment.set(builder -> builder.slices(plan()));
        assertThat(noServiceWaits()).isFalse();
    }

    /** The service chat is planned onto instances for 30 requests/s. */
    private static SlicePlan plan() {
        SlicePlan.Demand demand = new SlicePlan.Demand(new ServiceId("chat"), 30, Map.of("3g.40gb", 20.0));
        return new SlicePlan(NOW, "A100-80GB", List.of(), List.of(demand), 0, NOW, NOW, "for the test");
    }
}
