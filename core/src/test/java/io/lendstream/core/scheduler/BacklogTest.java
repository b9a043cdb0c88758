package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.fixtures.Scenario.START;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A scheduler that takes over a backlog: no actuator can still carry out decisions for past times. */
class BacklogTest {
    private static final Scheduler SCHEDULER = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
    private static final Instant CAUGHT_UP = START.plus(ofMinutes(5));
    private static final Scheduler LATE = SCHEDULER.decidingFrom(Optional.of(CAUGHT_UP));

    @Test
    void decidesNothingForTimesThatAreOverAndThenAllThatIsDue() {
        Scenario story = new Scenario(LATE).node("infer", Pool.INFERENCE, 4).service("chat", 1);
        for (int window = 0; window < 20; window++) {
            story.rate("chat", 15).after(ofSeconds(15));
            boolean isOver = story.now().isBefore(CAUGHT_UP);
            assertThat(story.decisions().isEmpty()).isEqualTo(isOver);
        }

        assertThat(story.decisions())
                .isNotEmpty()
                .allSatisfy(decision -> assertThat(decision.at()).isAfterOrEqualTo(CAUGHT_UP));
        assertThat(story.count("binding")).isEqualTo(2);
        story.settled();
        assertThat(story.count("serving")).isEqualTo(2);
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void oneThatDecidedForTimesThatAreOverWouldLoseTheGpus() {
        Scenario story =
                new Scenario(SCHEDULER).node("infer", Pool.INFERENCE, 4).service("chat", 1);
        for (int window = 0; window < 20; window++) {
            story.rate("chat", 15).after(ofSeconds(15));
        }

        assertThat(story.count("quarantined")).isPositive();
    }

    @Test
    void hearsOfAReleaseThatWaitedBeforeItsTimeIsUp() {
        Scenario story =
                new Scenario(SCHEDULER).node("infer", Pool.INFERENCE, 1).service("chat", 1);
        story.rate("chat", 5).settled().node("train", Pool.TRAINING, 2).job("a", 2);
        while (story.job("a").gpus() == 0) {
            story.rate("chat", 5).settled().after(ofSeconds(15));
        }
        story.settled().progress("a", JobPhase.FINISHED);
        Decision release = story.last().get(0);
        Instant back = story.now().plus(ofMinutes(10));
        Scheduler successor = SCHEDULER.decidingFrom(Optional.of(back));
        List<Decision> decided = new ArrayList<>();

        ClusterState state = story.state();
        List<Event> backlog = new ArrayList<>(
                List.of(successor.started(state, story.now()), new Tick(DOMAIN, back.minus(ofMinutes(5)))));
        backlog.addAll(story.answers(release));
        backlog.add(new Tick(DOMAIN, back));
        for (Event event : backlog) {
            long epoch = state.epoch() + (event == backlog.get(0) ? 1 : 0);
            Step step = successor.step(
                    state,
                    new DomainEvent(DOMAIN, epoch, state.eventSequence() + 1, event.at(), Optional.empty(), event));
            state = step.state();
            decided.addAll(step.decisions());
        }

        assertThat(state.gpus().stream()
                        .filter(gpu -> gpu.pool() == Pool.TRAINING)
                        .toList())
                .hasSize(2)
                .allSatisfy(gpu -> assertThat(gpu.owner()).isInstanceOf(Owner.Free.class));
        assertThat(decided).allSatisfy(decision -> assertThat(decision.at()).isEqualTo(back));
    }
}
