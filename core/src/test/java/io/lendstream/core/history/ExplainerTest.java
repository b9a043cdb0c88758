package io.lendstream.core.history;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ExplainerTest {
    private final Scenario story = twoBorrowers();

    /** A job on one training GPU and one that has none of its own are lent the two GPUs that inference leaves. */
    private static Scenario twoBorrowers() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 3)
                .service("chat", 1)
                .settled()
                .job("bert", 2)
                .job("gpt", 1);
        for (int i = 0; i < 40 && story.count("lent") < 2; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            for (String job : List.of("bert", "gpt")) {
                if (story.job(job).gpus() > 0) {
                    story.progress(job, JobPhase.RUNNING).settled();
                }
            }
        }
        assertThat(story.count("lent")).isEqualTo(2);
        return story.rate("chat", 1).settled();
    }

    private Decision reclaim() {
        story.rate("chat", 15);
        return story.last().stream()
                .filter(decision -> decision.action() instanceof Action.Reclaim)
                .findFirst()
                .orElseThrow();
    }

    private Decision lend(String job) {
        return story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Lend action
                        && action.job().equals(new JobId(job)))
                .findFirst()
                .orElseThrow();
    }

    private Explanation explain(Decision decision, List<DomainEvent> log) {
        Explainer explainer = new Explainer(decision);
        log.forEach(explainer::take);
        return explainer.explanation();
    }

    @Test
    void tellsOfAReclaimWhatItRestsOnWhatElseMightHaveGoneAndWhoHadTheGpuBefore() {
        Decision decision = reclaim();

        Explanation explanation = explain(decision, story.log());

        assertThat(explanation.isAsRecorded()).isTrue();
        assertThat(explanation.inputs()).extracting(DomainEvent::event).anyMatch(RequestRate.class::isInstance);
        Explanation.Made made = explanation.made().orElseThrow();
        List<Alternative> weighed = made.alternatives();
        assertThat(weighed).hasSize(2);
        assertThat(weighed.get(0).chosen()).isTrue();
        assertThat(weighed.get(0).gpus()).isEqualTo(decision.action().gpus());
        assertThat(weighed.get(1).chosen()).isFalse();
        assertThat(weighed.get(1).score()).isGreaterThanOrEqualTo(weighed.get(0).score());
        assertThat(made.needs().values()).anyMatch(need -> need.replicas() == 2);
        assertThat(made.owners()).singleElement().satisfies(change -> {
            assertThat(change.before().orElseThrow()).isInstanceOf(Owner.Lent.class);
            assertThat(change.after().orElseThrow()).isInstanceOf(Owner.Releasing.class);
        });
    }

    @Test
    void tellsOfALoanWhichSizesWereWeighedAndThatNoneDoesMoreForAllJobs() {
        Explanation.Made made = explain(lend("bert"), story.log()).made().orElseThrow();

        assertThat(made.plannedBy()).isPresent();
        Alternative chosen = made.alternatives().stream()
                .filter(Alternative::chosen)
                .findFirst()
                .orElseThrow();
        assertThat(chosen.size()).isEqualTo(2);
        assertThat(made.alternatives()).extracting(Alternative::size).containsExactly(0, 1, 2);
        assertThat(made.alternatives())
                .allSatisfy(other -> assertThat(other.score()).isLessThanOrEqualTo(chosen.score()));
    }

    @Test
    void listsTheGpusOfTheJobBeforeAndAfterALoan() {
        Decision lend = lend("bert");
        GpuId own = new GpuId("train-g0");
        GpuId lent = lend.action().gpus().get(0);

        Explanation.Made made = explain(lend, story.log()).made().orElseThrow();

        assertThat(made.job()).hasValueSatisfying(job -> {
            assertThat(job.job()).isEqualTo(new JobId("bert"));
            assertThat(job.before()).containsExactly(own);
            assertThat(job.after()).containsExactlyInAnyOrder(own, lent);
            assertThat(job.gained()).containsExactly(lent);
            assertThat(job.givenUp()).isEmpty();
        });
        assertThat(made.owners()).extracting(Explanation.Change::gpu).containsExactly(lent);
    }

    @Test
    void listsTheOwnersOfGpusThatTheJobGivesUpWithALoan() {
        Decision lend = lend("bert");
        Action.Lend action = lend.action().asLend().orElseThrow();
        Allocation was = action.allocation();
        Allocation moved = new Allocation(
                action.gpus(), was.localBatch(), was.accumulation(), was.learningRateScale(), was.mechanism());
        Decision moving = new Decision(
                lend.id(),
                lend.at(),
                lend.deadline(),
                lend.advisory(),
                lend.reason(),
                new Action.Lend(action.job(), action.gpus(), action.until(), moved));

        Explanation explanation = explain(moving, story.log());

        Explanation.Made made = explanation.made().orElseThrow();
        assertThat(made.job().orElseThrow().givenUp()).containsExactly(new GpuId("train-g0"));
        assertThat(explanation.changedGpus())
                .containsExactlyInAnyOrder(new GpuId("train-g0"), action.gpus().get(0));
    }

    @Test
    void tellsWhichRulesWereBrokenWhenItHeld() {
        story.control(ControlCommand.Kind.FREEZE).rate("chat", 1).after(ofMinutes(1));
        Decision hold = story.last().get(0);

        Explanation.Made made = explain(hold, story.log()).made().orElseThrow();

        assertThat(hold.action()).isInstanceOf(Action.Hold.class);
        assertThat(made.safetyRules())
                .filteredOn(rule -> rule.broken().isPresent())
                .anyMatch(rule -> rule.broken().orElseThrow().contains("frozen"));
        assertThat(made.mode().frozen()).isTrue();
    }

    @Test
    void seesThatARecordedDecisionIsNotTheOneThatTheLogGives() {
        Decision decision = reclaim();
        Reason other = new Reason(
                "demand",
                "on a whim",
                decision.reason().numbers(),
                decision.reason().inputs());
        Decision forged = new Decision(
                decision.id(), decision.at(), decision.deadline(), decision.advisory(), other, decision.action());

        Explanation explanation = explain(forged, story.log());

        assertThat(explanation.isAsRecorded()).isFalse();
        assertThat(explanation.differences())
                .singleElement()
                .satisfies(difference -> assertThat(difference)
                        .startsWith("reason is recorded as")
                        .contains("on a whim"));
    }

    @Test
    void doesNotReplayALogWhoseBeginningIsGoneButStillTellsWhatIsThere() {
        Decision decision = reclaim();
        List<DomainEvent> rest = story.log().subList(5, story.log().size());

        Explanation explanation = explain(decision, rest);

        assertThat(explanation.made()).isEmpty();
        assertThat(explanation.isAsRecorded()).isFalse();
        assertThat(explanation.obstacle()).contains("the log begins with event 6: earlier ones are no longer kept");
        assertThat(explanation.inputs()).isNotEmpty();
    }

    @Test
    void saysWhereTheLogEndsTooSoon() {
        Decision decision = reclaim();
        List<DomainEvent> log = story.log().subList(0, story.log().size() - 1);

        assertThat(explain(decision, log).obstacle())
                .contains("the log has no event " + story.log().size());
    }

    @Test
    void listsTheInputsThatTheLogStillHasAndThoseThatAreMissing() {
        Decision lend = lend("bert");
        List<Long> inputs = lend.reason().inputs();

        Explanation whole = explain(lend, story.log());
        assertThat(whole.inputs()).extracting(DomainEvent::sequence).containsExactlyElementsOf(inputs);
        assertThat(whole.missing()).isEmpty();

        Explanation rest = explain(
                lend, story.log().subList(inputs.get(0).intValue(), story.log().size()));
        assertThat(rest.inputs())
                .extracting(DomainEvent::sequence)
                .containsExactlyElementsOf(inputs.subList(1, inputs.size()));
        assertThat(rest.missing()).containsExactly(inputs.get(0));
    }

    @Test
    void doesNotReplayALogWithAGap() {
        List<DomainEvent> log = new ArrayList<>(story.log());
        log.remove(2);

        Explanation explanation = explain(lend("bert"), log);

        assertThat(explanation.made()).isEmpty();
        assertThat(explanation.obstacle()).contains("event 4 follows event 2 in the log");
    }

    @Test
    void doesNotReplayALogThatBeginsBeforeAnyScheduler() {
        DomainEvent first = story.log().get(0);
        List<DomainEvent> log = new ArrayList<>(story.log());
        log.set(
                0,
                new DomainEvent(
                        first.domain(), 1, 1, first.at(), first.origin(), new Tick(first.domain(), first.at())));

        Explanation explanation = explain(lend("bert"), log);

        assertThat(explanation.made()).isEmpty();
        assertThat(explanation.obstacle()).contains("event 1 comes before any scheduler started");
    }

    @Test
    void doesNotReplayALogWhosePolicyIsUnknown() {
        Decision decision = lend("bert");
        Explainer explainer = new Explainer(decision, started -> {
            throw new IllegalArgumentException("no policy is named " + started.policy());
        });
        story.log().forEach(explainer::take);

        assertThat(explainer.explanation().made()).isEmpty();
        assertThat(explainer.explanation().obstacle())
                .contains("this version has no such scheduler as started with event 1: "
                        + "no policy is named deepboot:protect-scale=1.0:place=near");
    }

    @Test
    void isDoneWithTheEventThatLedToTheDecision() {
        Decision decision = reclaim();
        Explainer explainer = new Explainer(decision);
        int last = story.log().size() - 1;

        story.log().subList(0, last).forEach(explainer::take);
        assertThat(explainer.isDone()).isFalse();

        explainer.take(story.log().get(last));
        assertThat(explainer.isDone()).isTrue();
        assertThat(explainer.explanation().isAsRecorded()).isTrue();
    }

    @Test
    void ignoresEventsThatWereWrittenTwice() {
        Decision decision = reclaim();
        List<DomainEvent> log =
                story.log().stream().flatMap(event -> Stream.of(event, event)).toList();

        assertThat(explain(decision, log).isAsRecorded()).isTrue();
    }

    @Test
    void aDecisionForDemandHasNoPlanAndOnlyAReclaimHasAlternatives() {
        Scenario roomy = oneBorrowerAndAFreeGpu();
        roomy.rate("chat", 25);
        assertThat(roomy.lastKinds()).containsExactly("serve", "reclaim");

        Explanation serve = explain(roomy.last().get(0), roomy.log());
        assertThat(serve.isAsRecorded()).isTrue();
        assertThat(serve.made().orElseThrow().plannedBy()).isEmpty();
        assertThat(serve.made().orElseThrow().alternatives()).isEmpty();

        Explanation reclaim = explain(roomy.last().get(1), roomy.log());
        assertThat(reclaim.isAsRecorded()).isTrue();
        assertThat(reclaim.made().orElseThrow().plannedBy()).isEmpty();
        assertThat(reclaim.made().orElseThrow().alternatives())
                .singleElement()
                .satisfies(weighed -> assertThat(weighed.gpus()).containsExactly(new GpuId("infer-g1")));
    }

    /** Of the two GPUs that inference leaves, one is lent. */
    private static Scenario oneBorrowerAndAFreeGpu() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 3)
                .service("chat", 1)
                .settled();
        runs(story, 12, "bert");
        runs(story, 12, "gpt");
        assertThat(story.count("lent")).isEqualTo(1);
        assertThat(story.count("free")).isEqualTo(1);
        return story;
    }

    /** Submits a job that uses one GPU and lets it run for so many quarters of a minute. */
    private static void runs(Scenario story, int quarters, String job) {
        story.job(job, 1);
        for (int i = 0; i < quarters; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (story.job(job).gpus() > 0) {
                story.progress(job, JobPhase.RUNNING).settled();
            }
        }
    }

    @Test
    void aResizeThatFollowsAPlanHasTheSizesOfItsJobAsAlternatives() {
        Decision resize = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Resize)
                .findFirst()
                .orElseThrow();

        Explanation.Made made = explain(resize, story.log()).made().orElseThrow();

        assertThat(made.plannedBy()).isPresent();
        assertThat(made.alternatives()).extracting(Alternative::job).containsOnly(new JobId("bert"));
        assertThat(made.alternatives()).extracting(Alternative::size).containsExactly(0, 1, 2);
    }

    @Test
    void aSizeThatOnlyTheDoublingRuleForbidsIsAmongTheAlternativesAndInTheReason() {
        Decision resize = story.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Resize)
                .findFirst()
                .orElseThrow();
        String rule = "bert may use at most 1 GPU now: it has not run yet,"
                + " and a job may at most double the GPUs it has run on";

        List<Alternative> sizes =
                explain(resize, story.log()).made().orElseThrow().alternatives();

        assertThat(resize.reason().text()).startsWith("bert starts on 1 GPU: ").endsWith("; " + rule);
        assertThat(sizes.get(2).chosen()).isFalse();
        assertThat(sizes.get(2).why()).isEqualTo(rule);
    }

    @Test
    void aReclaimThatFollowsAPlanHasTheSizesOfItsJobAsAlternatives() {
        Scenario crowded = Scenario.of("lyra")
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 3)
                .service("chat", 1)
                .settled()
                .job("large", 4);
        for (int i = 0; i < 12; i++) {
            crowded.rate("chat", 1).settled().after(ofSeconds(15)).settled();
        }
        crowded.job("small", 2);
        for (int i = 0; i < 12; i++) {
            crowded.rate("chat", 1).settled().after(ofSeconds(15)).settled();
        }
        Decision reclaim = crowded.decisions().stream()
                .filter(decision -> decision.action() instanceof Action.Reclaim)
                .findFirst()
                .orElseThrow();
        assertThat(reclaim.reason().code()).isEqualTo("plan");
        Explainer explainer =
                new Explainer(reclaim, started -> new Scheduler(new OpenLyra(), SchedulerSettings.DEFAULTS));
        crowded.log().forEach(explainer::take);

        Explanation explanation = explainer.explanation();

        assertThat(explanation.isAsRecorded()).isTrue();
        assertThat(explanation.made().orElseThrow().alternatives())
                .containsExactly(OpenLyra.weighed(new JobId("large")));
    }

    /** Lyra, which names one size of each job as if it had weighed it. */
    private record OpenLyra(Policy lyra) implements Policy {
        OpenLyra() {
            this(Policies.parse("lyra"));
        }

        static Alternative weighed(JobId job) {
            return new Alternative(job, List.of(), 2, 1, "test", true, "for the test");
        }

        @Override
        public List<Alternative> sizes(ClusterView cluster, JobId job) {
            return List.of(weighed(job));
        }

        @Override
        public PolicyInfo info() {
            return lyra.info();
        }

        @Override
        public Duration planEvery() {
            return lyra.planEvery();
        }

        @Override
        public Duration protectFor(int warmHits) {
            return lyra.protectFor(warmHits);
        }

        @Override
        public Plan plan(ClusterView cluster) {
            return lyra.plan(cluster);
        }

        @Override
        public List<GpuId> victims(ClusterView cluster, int count) {
            return lyra.victims(cluster, count);
        }

        @Override
        public List<Alternative> losses(ClusterView cluster, int count) {
            return lyra.losses(cluster, count);
        }

        @Override
        public String spec() {
            return lyra.spec();
        }
    }

    @Test
    void tellsHowLongADecisionTookAndByWhenItShouldHave() {
        Decision decision = reclaim();
        Instant applied = decision.at().plusMillis(4200);

        DecisionOutcome fate = DecisionOutcome.of(
                decision,
                List.of(
                        report(decision, Outcome.APPLIED, applied),
                        report(decision, Outcome.ACCEPTED, decision.at()),
                        report(decision, Outcome.ACCEPTED, decision.at())),
                applied);

        assertThat(fate.took()).contains(Duration.ofMillis(4200));
        assertThat(fate.reports()).hasSize(2);
        assertThat(fate.inWords()).isEqualTo("in force after 4.2 s (limit 45.0 s)");
    }

    @Test
    void explainsADecisionWithoutAReport() {
        Decision decision = reclaim();

        assertThat(DecisionOutcome.of(decision, List.of(), decision.at()).inWords())
                .startsWith("no actuator has reported on it; it is due");
        assertThat(DecisionOutcome.of(decision, List.of(), decision.deadline().plusSeconds(1))
                        .inWords())
                .startsWith("no actuator has reported on it; it was due");
    }

    private ActuationReport report(Decision decision, Outcome outcome, Instant at) {
        ActuationReport now = story.report(decision.id(), outcome, List.of(), Optional.empty());
        return new ActuationReport(
                now.domain(),
                now.decision(),
                now.actuator(),
                at,
                outcome,
                now.gpus(),
                now.tenant(),
                now.timings(),
                now.reason());
    }
}
