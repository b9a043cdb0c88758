package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.history.Invariants;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Random clusters, and an actuator that is slow, says things twice, or says nothing. */
class SchedulerChurnTest {
    private static final List<String> SERVICES = List.of("chat", "search", "rank", "embed", "speech");

    @Seeds(80)
    void keepsItsPromisesWhateverHappens(long seed) {
        Random random = new Random(seed);
        Scenario story = churn(random, random.nextBoolean() ? "deepboot" : "lendstream", 0.05);

        assertThat(story.verdict().violations())
                .as("seed %d, %d events", seed, story.log().size())
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .isEmpty();
    }

    @Seeds(100)
    void keepsItsPromisesWhateverAdviceIsApproved(long seed) {
        Random random = new Random(seed);
        Scenario story = churn(random, random.nextBoolean() ? "deepboot" : "lendstream", 0.05, true);

        assertThat(story.verdict().violations())
                .as("seed %d, %d events", seed, story.log().size())
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .isEmpty();
    }

    @Seeds(40)
    void everyDecisionIsAnsweredWhenTheActuatorIs(long seed) {
        Scenario story = churn(new Random(seed), "deepboot", 0);

        assertThat(story.verdict().violations()).as("seed %d", seed).isEmpty();
    }

    @Seeds(40)
    void theSameLogGivesTheSameDecisions(long seed) {
        Scenario story = churn(new Random(seed), "lendstream", 0.05);
        Scheduler scheduler = Scheduler.of((SchedulerStarted) story.log().get(0).event());
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        List<Decision> again = new ArrayList<>();
        for (DomainEvent event : story.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            again.addAll(step.decisions());
            assertThat(state).as("event %d", event.sequence()).isEqualTo(withIndexFromScratch(state));
        }

        assertThat(again).isEqualTo(story.decisions());
        assertThat(state).isEqualTo(story.state());
    }

    /**
     * A rate of a service with exactly the replicas it needs only updates the state, and so does a report of a transfer
     * while no service waits. That must leave no work, for the service or for others. Work that becomes due for others
     * as a forecast ages waits for their own next rate, or for a plan.
     */
    @Seeds(100)
    void aTickRightAfterAnyWordOfDemandOrReportFindsNothingThatWasLeftUndone(long seed) {
        Random random = new Random(seed);
        Scenario story = churn(random, random.nextBoolean() ? "deepboot" : "lendstream", 0.05);
        Scheduler scheduler = Scheduler.of((SchedulerStarted) story.log().get(0).event());
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : story.log()) {
            state = scheduler.step(state, event).state();
            if (event.event() instanceof RequestRate || event.event() instanceof ActuationReport) {
                Event tick = new Tick(Scenario.DOMAIN, state.now());
                DomainEvent next = new DomainEvent(
                        Scenario.DOMAIN, state.epoch(), state.eventSequence() + 1, state.now(), Optional.empty(), tick);
                assertThat(scheduler.step(state, next).decisions())
                        .as("after event %d, seed %d", event.sequence(), seed)
                        .noneMatch(decision -> decision.reason().code().equals("demand")
                                || (event.event() instanceof RequestRate rate
                                        && decision.reason()
                                                .text()
                                                .startsWith("service %s needs".formatted(rate.service()))));
            }
        }
    }

    /** A reclaim looks at the loans that are kept along with the state; a list of GPUs must come to the same. */
    @Seeds(40)
    void takesBackWhatAListOfAllGpusWouldHaveItTakeBack(long seed) {
        Scenario story = churn(new Random(seed), "lendstream", 0.05);
        Scheduler scheduler = Scheduler.of((SchedulerStarted) story.log().get(0).event());
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : story.log()) {
            StepBuilder builder = new StepBuilder(state, event, StepListener.NONE);
            ClusterView kept = new TrainingView(builder, scheduler.settings()).view();
            ClusterView listed = new ClusterView(
                    kept.now(), kept.jobs(), kept.gpus(), kept.fixed(), kept.nodes(), kept.gpusPerNode(), 0);
            for (int count = 1; count <= 3; count++) {
                assertThat(scheduler.policy().victims(kept, count))
                        .as("%d before event %d, seed %d", count, event.sequence(), seed)
                        .isEqualTo(scheduler.policy().victims(listed, count));
            }
            state = scheduler.step(state, event).state();
        }
    }

    @Seeds(20)
    void everyDecisionIsExplainedAsItWasMade(long seed) {
        Random random = new Random(seed);
        Scenario story = churn(random, random.nextBoolean() ? "deepboot" : "lendstream", 0.05);
        for (int i = 0; i < 10; i++) {
            Decision decision =
                    story.decisions().get(random.nextInt(story.decisions().size()));
            Explainer explainer = new Explainer(decision);
            story.log().forEach(explainer::take);

            Explanation explanation = explainer.explanation();

            assertThat(explanation.differences())
                    .as("%s, seed %d", decision.id(), seed)
                    .isEmpty();
            assertThat(explanation.isAsRecorded()).isTrue();
            assertThat(explanation.missing()).isEmpty();
            List<Alternative> weighed = explanation.made().orElseThrow().alternatives();
            if (decision.reason().code().equals("plan")) {
                List<Alternative> allowed = weighed.stream()
                        .filter(each -> !each.why().contains(" may use at most "))
                        .toList();
                assertThat(allowed)
                        .as("only a size after the last allowed one is forbidden, and it is not chosen")
                        .isEqualTo(weighed.subList(0, allowed.size()))
                        .hasSizeGreaterThanOrEqualTo(weighed.size() - 1);
                assertThat(weighed.subList(allowed.size(), weighed.size())).allSatisfy(forbidden -> {
                    assertThat(forbidden.chosen()).isFalse();
                    assertThat(forbidden.size())
                            .isEqualTo(allowed.get(allowed.size() - 1).size() + 1);
                });
                assertThat(allowed)
                        .filteredOn(Alternative::chosen)
                        .allSatisfy(chosen -> assertThat(allowed)
                                .allSatisfy(
                                        other -> assertThat(other.score()).isLessThanOrEqualTo(chosen.score() + 1e-9)));
            } else {
                assertThat(weighed.stream().filter(Alternative::chosen).flatMap(chosen -> chosen.gpus().stream()))
                        .as("what was chosen is what is reclaimed, from this job and others")
                        .containsAll(
                                weighed.isEmpty()
                                        ? List.of()
                                        : decision.action().gpus());
            }
        }
    }

    private static ClusterState withIndexFromScratch(ClusterState state) {
        return ClusterStates.with(
                state,
                new ClusterEntities(
                        state.nodes(),
                        state.gpus(),
                        state.services(),
                        state.jobs(),
                        state.queues(),
                        state.actuators()));
    }

    private static Scenario churn(Random random, String policy, double lossOfReports) {
        return churn(random, policy, lossOfReports, false);
    }

    private static Scenario churn(Random random, String policy, double lossOfReports, boolean advised) {
        Scenario story = Scenario.of(policy);
        int nodes = 1 + random.nextInt(3);
        for (int i = 0; i < nodes; i++) {
            story.node("train-" + i, Pool.TRAINING, 1 + random.nextInt(4));
            story.node("infer-" + i, Pool.INFERENCE, 1 + random.nextInt(4));
        }
        if (random.nextBoolean()) {
            story.migNode("cut", Pool.INFERENCE, cut(random), cut(random));
        }
        List<String> services = SERVICES.subList(0, 2 + random.nextInt(SERVICES.size() - 1));
        services.forEach(service -> story.service(service, random.nextInt(2)));
        Deque<ActuationReport> reports = new ArrayDeque<>();
        queue(story, 0, reports, random, lossOfReports);
        int jobs = 0;
        for (int i = 0; i < 120; i++) {
            int answered = story.decisions().size();
            int dice = random.nextInt(100);
            if (advised && random.nextInt(4) == 0) {
                adviseOrApprove(story, random);
            } else if (dice < 40) {
                boolean isLone = random.nextInt(4) == 0;
                for (String service : isLone ? List.of(services.get(random.nextInt(services.size()))) : services) {
                    story.rate(service, random.nextInt(60 / services.size()));
                }
            } else if (dice < 50) {
                String name = "job-" + jobs++;
                switch (random.nextInt(4)) {
                    case 0, 1 -> story.smallJob(name, 1 + random.nextInt(3), 1 + random.nextInt(40));
                    case 2 -> story.job(name, 1 + random.nextInt(8));
                    default -> story.rigidJob(name, 1 + random.nextInt(5));
                }
            } else if (dice < 52) {
                story.migNode("cut", Pool.INFERENCE, cut(random), cut(random));
            } else if (dice < 70 && jobs > 0) {
                String job = "job-" + random.nextInt(jobs);
                story.progress(job, random.nextInt(6) == 0 ? JobPhase.FINISHED : JobPhase.RUNNING);
            } else if (dice < 78) {
                story.forecast(services.get(random.nextInt(services.size())), random.nextInt(80 / services.size()));
            } else if (dice < 80) {
                story.sample("infer-0", Optional.of(random.nextBoolean() ? 79 : 13));
            } else if (dice < 82) {
                ControlCommand.Kind[] kinds = {
                    ControlCommand.Kind.FREEZE, ControlCommand.Kind.THAW, ControlCommand.Kind.RECLAIM_ALL
                };
                story.control(kinds[random.nextInt(kinds.length)]);
            } else if (dice < 84) {
                GpuId[] quarantined = story.state().gpus().stream()
                        .filter(gpu -> gpu.owner() instanceof Owner.Quarantined)
                        .map(gpu -> gpu.gpuId())
                        .toArray(GpuId[]::new);
                reports.removeIf(report -> report.gpus().stream().anyMatch(List.of(quarantined)::contains));
                story.control(ControlCommand.Kind.RESET, quarantined);
            } else {
                story.after(Duration.ofSeconds(1 + random.nextInt(60)));
            }
            queue(story, answered, reports, random, lossOfReports);
            for (int n = random.nextInt(4); n > 0 && !reports.isEmpty(); n--) {
                answered = story.decisions().size();
                deliver(story, reports.removeFirst());
                queue(story, answered, reports, random, lossOfReports);
            }
            List<Violation> violations = Invariants.check(story.state());
            assertThat(violations).isEmpty();
        }
        while (!reports.isEmpty()) {
            int answered = story.decisions().size();
            deliver(story, reports.removeFirst());
            queue(story, answered, reports, random, lossOfReports);
        }
        return story;
    }

    /** Advice is switched on and off now and then, and any decision may be approved, rightly or not. */
    private static void adviseOrApprove(Scenario story, Random random) {
        List<Decision> decisions = story.decisions();
        if (random.nextInt(5) == 0) {
            story.control(random.nextInt(3) > 0 ? ControlCommand.Kind.ADVISORY_ON : ControlCommand.Kind.ADVISORY_OFF);
        } else if (!decisions.isEmpty()) {
            int late = Math.min(decisions.size(), 1 + random.nextInt(20));
            story.approve(decisions.get(decisions.size() - late).id());
        }
    }

    private static String cut(Random random) {
        return List.of("7g.80gb@0", "4g.40gb@0 2g.20gb@4 1g.10gb@6", "3g.40gb@4 3g.40gb@0", "1g.10gb@2 1g.20gb@0", "")
                .get(random.nextInt(5));
    }

    private static void queue(
            Scenario story, int from, Deque<ActuationReport> reports, Random random, double lossOfReports) {
        for (Decision decision :
                story.decisions().subList(from, story.decisions().size())) {
            if (decision.advisory()) {
                continue;
            }
            reports.add(story.report(
                    decision.id(), io.lendstream.core.event.Outcome.ACCEPTED, List.of(), Optional.empty()));
            for (ActuationReport report : story.answers(decision)) {
                if (random.nextDouble() >= lossOfReports) {
                    reports.add(report);
                    if (random.nextInt(20) == 0) {
                        reports.add(report);
                    }
                }
            }
        }
    }

    private static void deliver(Scenario story, ActuationReport report) {
        story.tell(new ActuationReport(
                report.domain(),
                report.decision(),
                report.actuator(),
                story.now(),
                report.outcome(),
                report.gpus(),
                report.tenant(),
                report.timings(),
                report.reason()));
    }
}
