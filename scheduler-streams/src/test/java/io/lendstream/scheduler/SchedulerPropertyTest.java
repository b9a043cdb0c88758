package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.Pool;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.state.Lease;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;

@Tag("long")
class SchedulerPropertyTest {
    private record Outcome(List<DomainEvent> log, List<Decision> decisions, List<Lease> leases) {}

    @Seeds(6)
    void theSameRecordsGiveTheSameDecisionsWhateverTheyAre(long seed) {
        List<Event> inputs = inputs(new Random(seed));

        Outcome first = run(inputs);
        Outcome second = run(inputs);

        assertThat(second).as("seed %d", seed).isEqualTo(first);
        assertThat(SchedulerTopologyTest.decisionsOf(first.log))
                .as("seed %d", seed)
                .isEqualTo(first.decisions);
        assertThat(HistoryChecker.check(Scenario.DOMAIN, first.log, first.decisions, first.leases)
                        .violations())
                .as("seed %d", seed)
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .isEmpty();
    }

    private static Outcome run(List<Event> inputs) {
        try (Loop loop = Loop.live()) {
            inputs.forEach(loop::tell);
            return new Outcome(loop.events(), loop.decisions(), loop.leases());
        }
    }

    /** What may happen to a small domain, here and there out of order and twice. */
    private static List<Event> inputs(Random random) {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 1 + random.nextInt(4))
                .node("infer", Pool.INFERENCE, 1 + random.nextInt(4))
                .service("chat", random.nextInt(2));
        Deque<ActuationReport> reports = new ArrayDeque<>();
        int jobs = 0;
        for (int i = 0; i < 80; i++) {
            int made = story.decisions().size();
            int dice = random.nextInt(10);
            if (dice < 4) {
                story.rate("chat", random.nextInt(30));
            } else if (dice < 5) {
                story.job("job-" + jobs++, 1 + random.nextInt(6));
            } else if (dice < 6 && jobs > 0) {
                story.progress(
                        "job-" + random.nextInt(jobs), random.nextInt(5) == 0 ? JobPhase.FINISHED : JobPhase.RUNNING);
            } else {
                story.after(Duration.ofSeconds(1 + random.nextInt(40)));
            }
            for (Decision decision :
                    story.decisions().subList(made, story.decisions().size())) {
                reports.addAll(story.answers(decision));
            }
            for (int n = random.nextInt(3); n > 0 && !reports.isEmpty(); n--) {
                story.tell(reports.removeFirst());
            }
        }
        List<Event> inputs = new ArrayList<>();
        for (DomainEvent event : story.log()) {
            if (!(event.event() instanceof Tick) && !(event.event() instanceof SchedulerStarted)) {
                inputs.add(event.event());
                if (random.nextInt(20) == 0) {
                    inputs.add(event.event());
                }
            }
        }
        for (int i = 1; i < inputs.size(); i++) {
            if (random.nextInt(15) == 0) {
                Collections.swap(inputs, i, i - 1);
            }
        }
        return inputs;
    }
}
