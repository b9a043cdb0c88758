package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.Invariants;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * GPUs that are cut while load, jobs, faults and orders come at random, and an actuator that is slow, refuses, or says
 * nothing.
 */
@Tag("long")
class RepartitioningChurnTest {
    private static final List<String> SERVICES = List.of("chat", "search");

    private final Deque<ActuationReport> reports = new ArrayDeque<>();
    /** What GPUs are really cut into. */
    private String[] cuts = {};

    private Scenario story = Scenario.of("lendstream");

    @Seeds(40)
    void keepsItsPromisesWhateverHappens(long seed) {
        play(new Random(seed));

        assertThat(story.verdict().violations())
                .as("seed %d, %d events", seed, story.log().size())
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .isEmpty();
    }

    @Test
    void gpusAreCutLentInPartAndTakenBack() {
        Set<String> kinds = new TreeSet<>();
        for (long seed = 1; seed <= 20 && kinds.size() < 3; seed++) {
            play(new Random(seed));
            kinds.addAll(kinds());
        }

        assertThat(kinds).containsExactly("cut", "lent", "taken back");
    }

    private void play(Random random) {
        reports.clear();
        cuts = new String[] {"7g.80gb@0", "", "3g.40gb@0 2g.20gb@4"};
        story = new Scenario(new Scheduler(
                Policies.parse(random.nextBoolean() ? "deepboot" : "lendstream"),
                SchedulerSettings.DEFAULTS.withRepartition(true),
                Slices.LATENCIES));
        story.node("train", Pool.TRAINING, 2).node("infer", Pool.INFERENCE, random.nextInt(3));
        SERVICES.forEach(service -> story.service(service, random.nextInt(2)));
        inventory();
        churn(random);
    }

    /** The decisions about instances. */
    private Set<String> kinds() {
        Set<String> kinds = new TreeSet<>();
        for (Decision decision : story.decisions()) {
            String code = decision.reason().code();
            if (decision.action() instanceof Action.Repartition) {
                kinds.add("cut");
            } else if (decision.action() instanceof Action.Lend && code.equals("slice")) {
                kinds.add("lent");
            } else if (decision.action() instanceof Action.Reclaim && code.equals("slices")) {
                kinds.add("taken back");
            }
        }
        return kinds;
    }

    private void inventory() {
        story.migNode("cut", Pool.INFERENCE, cuts);
    }

    private void churn(Random random) {
        int jobs = 0;
        queue(0, random);
        for (int i = 0; i < 150; i++) {
            int answered = story.decisions().size();
            int dice = random.nextInt(100);
            if (dice < 40) {
                for (String service : SERVICES) {
                    story.rate(service, random.nextInt(3) * random.nextInt(700));
                }
            } else if (dice < 55) {
                story.smallJob("job-" + jobs++, 1 + random.nextInt(3), 1 + random.nextInt(30));
            } else if (dice < 60 && jobs > 0) {
                story.progress("job-" + random.nextInt(jobs), JobPhase.FINISHED);
            } else if (dice < 62) {
                ControlCommand.Kind[] kinds = {
                    ControlCommand.Kind.FREEZE, ControlCommand.Kind.THAW, ControlCommand.Kind.RECLAIM_ALL
                };
                story.control(kinds[random.nextInt(kinds.length)]);
            } else if (dice < 64) {
                inventory();
            } else if (dice < 66) {
                reset();
            } else {
                story.after(Duration.ofSeconds(1 + random.nextInt(60)));
            }
            queue(answered, random);
            for (int n = random.nextInt(5); n > 0 && !reports.isEmpty(); n--) {
                answered = story.decisions().size();
                deliver(reports.removeFirst());
                queue(answered, random);
            }
            assertThat(Invariants.check(story.state())).isEmpty();
        }
    }

    private void reset() {
        GpuId[] quarantined = story.state().gpus().stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Quarantined)
                .map(gpu -> gpu.gpuId())
                .toArray(GpuId[]::new);
        reports.removeIf(report -> report.gpus().stream().anyMatch(List.of(quarantined)::contains));
        story.control(ControlCommand.Kind.RESET, quarantined);
    }

    private void queue(int from, Random random) {
        for (Decision decision :
                List.copyOf(story.decisions().subList(from, story.decisions().size()))) {
            List<ActuationReport> answers = new ArrayList<>(story.answers(decision));
            if (decision.action() instanceof Action.Repartition && random.nextInt(8) == 0) {
                Outcome outcome = random.nextBoolean() ? Outcome.REJECTED : Outcome.FAILED;
                answers = List.of(story.report(decision.id(), outcome, List.of(), Optional.empty()));
            }
            for (ActuationReport report : answers) {
                if (random.nextInt(25) > 0) {
                    reports.add(report);
                }
            }
        }
    }

    private void deliver(ActuationReport report) {
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
        if (report.outcome() == Outcome.APPLIED) {
            List.copyOf(story.decisions()).stream()
                    .filter(decision -> decision.id().equals(report.decision()))
                    .map(Decision::action)
                    .filter(Action.Repartition.class::isInstance)
                    .map(Action.Repartition.class::cast)
                    .forEach(this::cut);
        }
    }

    private void cut(Action.Repartition repartition) {
        for (GpuId gpu : repartition.gpus()) {
            int index = gpu.value().charAt(gpu.value().length() - 1) - '0';
            cuts[index] = String.join(" ", repartition.profiles());
        }
        inventory();
    }
}
