package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.ClusterState;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Explains a decision by a replay of its domain's log, after the nearest snapshot that suffices. */
final class DecisionReplay {
    /** A plan may be older than the nearest snapshot; so often an older one is tried. */
    private static final int MOST_STARTS = 4;

    private static final int FURTHER_BACK = 4;
    private static final long FEW_EVENTS = 50_000;

    private final Decision decision;
    private final DomainId domain;
    private final long trigger;
    private final DomainLog history;
    private Attempt best;

    /** A replay from one start. */
    private record Attempt(Explainer explainer, CommandsInForce orders) {}

    DecisionReplay(Decision decision, DomainLog history) {
        this.decision = decision;
        this.domain = decision.id().domain();
        this.trigger = decision.reason().inputs().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElse(0);
        this.history = history;
        this.best = new Attempt(new Explainer(decision), new CommandsInForce(decision));
    }

    /**
     * Replays the log after a snapshot; from its beginning if no snapshot is usable. If the plan that the decision
     * follows is older, it tries older starts, and keeps the first replay unless one of them has the plan.
     *
     * @param commands events of the commands that were accepted before the decision; asked for if some were in force
     */
    void run(Supplier<List<DomainEvent>> commands) {
        Optional<Snapshot> start = history.snapshot(domain, trigger - 1);
        best = replay(start, commands);
        for (int i = 1; i < MOST_STARTS && start.isPresent() && missesPlan(); i++) {
            start = history.snapshot(
                    domain, trigger - FURTHER_BACK * (trigger - start.get().sequence()));
            if (start.isEmpty() && !isShort()) {
                return;
            }
            Attempt older = replay(start, commands);
            if (older.explainer.explanation().made().isEmpty()) {
                return;
            }
            if (!older.explainer.missesPlan()) {
                best = older;
            }
        }
    }

    /** Whether the log has its beginning, and so few events before the decision that they are replayed at once. */
    private boolean isShort() {
        return trigger <= FEW_EVENTS
                && history.firstEvent(domain)
                        .filter(first -> first.sequence() == 1)
                        .isPresent();
    }

    /** Replays the log from its beginning. */
    void runFromBeginning(Supplier<List<DomainEvent>> commands) {
        best = replay(Optional.empty(), commands);
    }

    private Attempt replay(Optional<Snapshot> start, Supplier<List<DomainEvent>> commands) {
        Explainer explainer = new Explainer(decision);
        CommandsInForce orders = new CommandsInForce(decision);
        if (start.isPresent()) {
            explainer.after(start.get());
            inputs(explainer, 0, start.get().sequence());
            ClusterState.Mode mode = start.get().state().mode();
            if (mode.frozen() || mode.advisory() || mode.lendingStopped()) {
                orders(orders, commands, start.get().sequence());
            }
        }
        history.replay(
                domain,
                start.map(Snapshot::sequence).orElse(0L),
                event -> {
                    explainer.take(event);
                    orders.take(event);
                },
                explainer::isDone);
        if (explainer.explanation().made().isPresent()) {
            return new Attempt(explainer, orders);
        }
        inputs(explainer, start.map(Snapshot::sequence).orElse(0L), trigger);
        CommandsInForce all = new CommandsInForce(decision);
        orders(all, commands, trigger);
        return new Attempt(explainer, all);
    }

    /** Reads the events that led to the decision one by one, where the replay does not come by. */
    private void inputs(Explainer explainer, long after, long upTo) {
        decision.reason().inputs().stream()
                .filter(input -> input > after && input <= upTo)
                .forEach(input -> history.event(domain, input).ifPresent(explainer::take));
    }

    private void orders(CommandsInForce orders, Supplier<List<DomainEvent>> commands, long upTo) {
        commands.get().stream()
                .filter(event -> event.domain().equals(domain) && event.sequence() <= upTo)
                .sorted(Comparator.comparingLong(DomainEvent::sequence))
                .forEach(orders::take);
    }

    Explanation explanation() {
        return best.explainer.explanation();
    }

    /** Whether the plan that the decision follows is older than the replay. */
    boolean missesPlan() {
        return best.explainer.missesPlan();
    }

    /** The commands in force at the time of the decision. */
    List<DomainEvent> inForce() {
        return best.orders.inForce();
    }
}
