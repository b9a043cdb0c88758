package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.KindTraits;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Kinds of GPUs are chosen by the speeds that jobs declare, and never such that a job excludes. */
class KindAwareTest {
    private static final String A100 = "NVIDIA A100-SXM4-80GB";
    private static final String T4 = "Tesla T4";
    private static final KindId BIG = new KindId("A100-SXM4-80GB");
    private static final KindId SMALL = new KindId("Tesla-T4-16GB");
    private static final SchedulerSettings KINDS = SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS);
    private static final ClusterModel ALIASES = new ClusterModel(true, GpuKinds.parse("A100-PCIE-80GB=A100-SXM4-80GB"));

    private static Scenario story(String policy) {
        return new Scenario(new Scheduler(Policies.parse(policy), KINDS));
    }

    private static KindNeeds fasterOnBig(double factor) {
        return new KindNeeds(
                List.of(),
                Optional.of(SMALL),
                Optional.empty(),
                List.of(KindTraits.of(BIG, new KindRatio(factor, 0.2))));
    }

    private static KindNeeds only(KindId kind) {
        return new KindNeeds(List.of(kind), Optional.empty(), Optional.empty(), List.of());
    }

    private static void pass(Scenario story, int minutes) {
        for (int i = 0; i < 2 * minutes; i++) {
            story.after(ofSeconds(30)).settled();
            for (JobState job : story.state().jobs().stream().toList()) {
                if (job.gpus() > 0 && !job.isOver() && job.changing().isEmpty()) {
                    report(story, job.spec().job().value());
                }
            }
        }
    }

    /** A step that is as fast as the job declares for the kind of its GPUs. */
    private static void report(Scenario story, String job) {
        for (KindId kind : kinds(story, job)) {
            double factor = story.job(job)
                    .spec()
                    .kindNeeds()
                    .traits(kind)
                    .flatMap(KindTraits::ratio)
                    .map(KindRatio::factor)
                    .orElse(1.0);
            story.progress(job, kind, factor);
        }
    }

    private static Set<KindId> kinds(Scenario story, String job) {
        Set<KindId> kinds = new TreeSet<>();
        story.job(job)
                .allocation()
                .gpus()
                .forEach(gpu ->
                        story.state().gpus().get(gpu).flatMap(GpuState::kind).ifPresent(kinds::add));
        return kinds;
    }

    /** Two GPUs of the faster kind are free, but on two nodes. */
    @Test
    void aJobGoesToTheSlowerKindIfOnlyThatHasItsDomainFree() {
        JobShape oneNode = JobShape.ANY.within(TopologyLevel.NODE, true);
        Scenario story = story("deepboot")
                .node("train-a", Pool.TRAINING, 3, A100, 80)
                .node("train-b", Pool.TRAINING, 3, A100, 80)
                .node("train-t", Pool.TRAINING, 2, T4, 16);
        for (String name : List.of("x", "y")) {
            story.tell(story.jobRecord(name, 2, false).onKinds(only(BIG)).shaped(oneNode));
        }
        pass(story, 2);
        assertThat(story.count("training")).isEqualTo(4);

        story.tell(story.jobRecord("a", 2, false).onKinds(fasterOnBig(6)).shaped(oneNode));
        pass(story, 3);

        assertThat(kinds(story, "a")).containsExactly(SMALL);
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** A job that gains much from the one A100, and one that gains little. */
    private static Scenario two(String policy) {
        return story(policy)
                .node("train-a", Pool.TRAINING, 1, A100, 80)
                .node("train-t", Pool.TRAINING, 2, T4, 16)
                .job("a", 2, fasterOnBig(6))
                .job("b", 2, fasterOnBig(1.3));
    }

    @Test
    void theJobThatGainsTheMostGetsTheFasterKind() {
        Scenario story = two("deepboot");

        pass(story, 6);

        assertThat(kinds(story, "a")).containsExactly(BIG);
        assertThat(kinds(story, "b")).containsExactly(SMALL);
        assertThat(story.decisions())
                .extracting(decision -> decision.reason().text())
                .anyMatch(text -> text.startsWith("a ")
                        && text.contains(
                                "not measured on A100-SXM4-80GB, which counts as 6.00 x its profile, less 20"));
    }

    @Test
    void aBlindPolicyGoesByFreeGpusAndTheOrderOfSubmission() {
        Scenario story = two("deepboot:kinds=blind");

        pass(story, 6);

        assertThat(kinds(story, "a")).containsExactly(SMALL);
        assertThat(kinds(story, "b")).containsExactly(BIG);
    }

    @Test
    void aJobThatRunsMovesToABetterKindByARestart() {
        Scenario story =
                story("deepboot").node("train-t", Pool.TRAINING, 2, T4, 16).job("fast", 2, fasterOnBig(6));
        pass(story, 20);
        assertThat(kinds(story, "fast")).containsExactly(SMALL);
        assertThat(story.job("fast").gpus()).isEqualTo(2);

        story.node("train-a", Pool.TRAINING, 2, A100, 80);
        int before = story.decisions().size();
        pass(story, 4);

        assertThat(kinds(story, "fast")).containsExactly(BIG);
        assertThat(story.decisions().subList(before, story.decisions().size()).stream()
                        .map(Decision::action)
                        .flatMap(action -> action.jobChange().stream())
                        .filter(change -> !change.allocation().gpus().isEmpty())
                        .map(change -> change.allocation().mechanism())
                        .findFirst())
                .contains(Mechanism.RESTART);
        assertThat(story.decisions().subList(before, story.decisions().size()))
                .extracting(decision -> decision.reason().text())
                .anyMatch(text -> text.startsWith("fast ")
                        && text.contains("; its GPUs change from Tesla-T4-16GB to A100-SXM4-80GB"));
        assertThat(story.decisions().subList(0, before))
                .noneMatch(decision -> decision.reason().text().contains("its GPUs change"));
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aDoubtfulGainMovesNoJob() {
        Scenario story =
                story("deepboot").node("train-t", Pool.TRAINING, 2, T4, 16).job("slow", 2, fasterOnBig(1.2));
        pass(story, 20);

        story.node("train-a", Pool.TRAINING, 2, A100, 80);
        pass(story, 10);

        assertThat(kinds(story, "slow")).as("1.2 less 20 % is less than 1").containsExactly(SMALL);
    }

    @Test
    void aJobThatWouldGetNothingOnABetterKindKeepsItsGpus() {
        Policy policy = new GivesNoA100(Policies.parse("deepboot"));
        Scenario story = new Scenario(new Scheduler(policy, KINDS))
                .node("train-t", Pool.TRAINING, 2, T4, 16)
                .node("train-a", Pool.TRAINING, 1, A100, 80)
                .job("a", 2, fasterOnBig(6));

        pass(story, 8);

        assertThat(kinds(story, "a")).containsExactly(SMALL);
        assertThat(story.decisions().stream().flatMap(decision -> decision.action().jobChange().stream()))
                .isNotEmpty()
                .allMatch(change -> !change.allocation().gpus().isEmpty());
    }

    @Test
    void kindsThatJobsNameCountByTheirAliases() {
        KindId pcie = new KindId("A100-PCIE-80GB");
        Scenario story = new Scenario(new Scheduler(Policies.parse("deepboot"), KINDS.withModel(ALIASES)))
                .node("train-p", Pool.TRAINING, 1, "NVIDIA A100-PCIE-80GB", 80)
                .node("train-t", Pool.TRAINING, 1, T4, 16)
                .job("a", 1, only(pcie));

        pass(story, 3);

        assertThat(kinds(story, "a")).containsExactly(BIG);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aNewAliasCountsForKnownJobsToo() {
        KindId pcie = new KindId("A100-PCIE-80GB");
        Scenario story = story("deepboot")
                .node("train-p", Pool.TRAINING, 1, "NVIDIA A100-PCIE-80GB", 80)
                .node("train-t", Pool.TRAINING, 1, T4, 16)
                .job("a", 1, only(pcie));
        Scheduler next = new Scheduler(Policies.parse("deepboot"), KINDS.withModel(ALIASES));

        story.takenOverBy(next);

        assertThat(story.job("a").spec().excludes(BIG)).isFalse();
    }

    /** Chooses the A100 for each job that runs, but gives none of it. */
    private record GivesNoA100(Policy plain) implements Policy {
        @Override
        public Optional<KindChooser> kinds() {
            return Optional.of(views -> {
                Map<JobId, KindId> chosen = new TreeMap<>();
                views.values().forEach(view -> view.holding().forEach(job -> chosen.put(job.job(), BIG)));
                return chosen;
            });
        }

        @Override
        public Plan plan(ClusterView cluster) {
            boolean isBig = cluster.gpus().stream().anyMatch(gpu -> gpu.kind().equals(Optional.of(BIG)));
            return isBig ? new Plan(Map.of(), Map.of()) : plain.plan(cluster);
        }

        @Override
        public PolicyInfo info() {
            return plain.info();
        }

        @Override
        public Duration planEvery() {
            return plain.planEvery();
        }

        @Override
        public List<GpuId> victims(ClusterView cluster, int count) {
            return plain.victims(cluster, count);
        }

        @Override
        public List<Alternative> losses(ClusterView cluster, int count) {
            return plain.losses(cluster, count);
        }

        @Override
        public String spec() {
            return plain.spec();
        }
    }

    @Test
    void stepsCountForTheKindOfTheGpus() {
        Scenario story = two("deepboot");
        for (int i = 0; i < 8; i++) {
            story.after(ofSeconds(30)).settled();
        }

        story.progress("a", JobPhase.RUNNING).progress("b", JobPhase.RUNNING);

        assertThat(story.job("a").learned().byKind())
                .singleElement()
                .satisfies(known -> assertThat(known.kind()).isEqualTo(BIG));
        assertThat(story.job("a").learned().speed().measured()).isEmpty();
        assertThat(story.job("b").learned().byKind()).isEmpty();
        assertThat(story.job("b").learned().speed().measured()).isNotEmpty();
    }

    @Test
    void aStepOnAKindThatTheDomainDoesNotHaveIsIgnored() {
        Scenario story = two("deepboot");
        pass(story, 3);
        JobState before = story.job("a");

        story.progress("a", new KindId("H100"), 1);

        assertThat(story.job("a").learned()).isEqualTo(before.learned());
    }

    @Test
    void aStepOnAnotherKindThanTheOnlyOneIsIgnored() {
        Scenario story =
                story("deepboot").node("train-t", Pool.TRAINING, 2, T4, 16).job("a", 2);
        pass(story, 3);
        JobState before = story.job("a");

        story.progress("a", BIG, 3);

        assertThat(story.job("a").learned()).isEqualTo(before.learned());
    }

    @Test
    void aStepIsLeftOutWhileAJobIsChanged() {
        Scenario story = two("deepboot");
        story.after(ofSeconds(90));
        assertThat(story.job("a").changing()).isPresent();

        story.progress("a", JobPhase.RUNNING);

        assertThat(story.job("a").learned().byKind()).isEmpty();
        assertThat(story.job("a").learned().speed().measured()).isEmpty();
    }

    @Test
    void aJobWaitsWhereItExcludesTheOnlyKind() {
        Scenario story = story("deepboot")
                .node("train-t", Pool.TRAINING, 2, T4, 16)
                .job("big", 2, only(BIG))
                .job("any", 2);

        pass(story, 3);

        assertThat(story.job("big").gpus()).isZero();
        assertThat(story.job("any").gpus()).isPositive();

        story.node("train-a", Pool.TRAINING, 1, A100, 80);
        pass(story, 3);

        assertThat(kinds(story, "big")).containsExactly(BIG);
    }

    @Test
    void aJobThatExcludesItsKindFromNowOnLeavesIt() {
        Scenario story = story("tiresias")
                .node("train-t", Pool.TRAINING, 2, T4, 16)
                .node("train-a", Pool.TRAINING, 2, A100, 80)
                .job("a", 2, only(SMALL));
        pass(story, 3);
        assertThat(kinds(story, "a")).containsExactly(SMALL);

        story.job("a", 2, only(BIG));
        pass(story, 3);
        assertThat(kinds(story, "a")).containsExactly(BIG);

        story.job("a", 2, only(new KindId("H200")));
        pass(story, 3);
        assertThat(story.job("a").gpus()).isZero();
        assertThat(story.verdict().violations()).isEmpty();
    }

    /** Kinds that jobs exclude are in the rule that the history checker has on kinds. */
    @Seeds(40)
    void noJobIsOnAKindThatItExcludes(long seed) {
        RandomHistory history = RandomHistory.of(seed, ClusterModel.KINDS, List.of(A100, T4, "NVIDIA L4"));

        for (ClusterState state : states(history.scheduler(), history.log())) {
            for (GpuState gpu : state.gpus().stream().filter(GpuState::isWhole).toList()) {
                gpu.owner()
                        .holdingJob()
                        .flatMap(job -> state.jobs().get(job))
                        .ifPresent(job -> assertThat(gpu.kind().filter(job.spec()::excludes))
                                .as("%s on %s", job.spec().job(), gpu.gpuId())
                                .isEmpty());
            }
        }
    }

    private static List<ClusterState> states(Scheduler scheduler, List<DomainEvent> log) {
        List<ClusterState> states = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : log) {
            state = scheduler.step(state, event).state();
            states.add(state);
        }
        return states;
    }

    @Seeds(40)
    void withoutDeclaredSpeedsDeepBootDecidesAsIfItWereBlind(long seed) {
        RandomHistory history = RandomHistory.withoutNeeds(seed, ClusterModel.KINDS, List.of(A100, T4));
        Scheduler aware = history.scheduler();
        Policy blind = aware.policy().info().name().equals("deepboot")
                ? Policies.parse("deepboot:kinds=blind")
                : aware.policy();
        Scheduler other = new Scheduler(blind, aware.settings(), aware.latencies(), aware.decidesFrom());

        List<Decision> again = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : history.log()) {
            Step step = other.step(state, event);
            state = step.state();
            again.addAll(step.decisions());
        }

        assertThat(again).isEqualTo(history.decisions());
    }
}
