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
    private final DomainHistory history;
    private Explainer explainer;
    private CommandsInForce orders;

    DecisionReplay(Decision decision, DomainHistory history) {
        this.decision = decision;
        this.domain = decision.id().domain();
        this.trigger = decision.reason().inputs().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElse(0);
        this.history = history;
        this.explainer = new Explainer(decision);
        this.orders = new CommandsInForce(decision);
    }

    /**
     * Replays the log after a snapshot; from its beginning if no snapshot is usable.
     *
     * @param commands events of the commands that were accepted before the decision; asked for if some were in force
     */
    void run(Supplier<List<DomainEvent>> commands) {
        Optional<Snapshot> start = history.snapshot(domain, trigger - 1);
        for (int i = 1; ; i++) {
            Optional<Snapshot> used = start;
            replay(used, commands);
            if (used.isEmpty() || !explainer.missesPlan() || i == MOST_STARTS) {
                return;
            }
            start = history.snapshot(
                    domain, trigger - FURTHER_BACK * (trigger - used.get().sequence()));
            if (start.isEmpty() && !isShort()) {
                return;
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
    void runFromBeginning() {
        replay(Optional.empty(), List::of);
    }

    private void replay(Optional<Snapshot> start, Supplier<List<DomainEvent>> commands) {
        explainer = new Explainer(decision);
        orders = new CommandsInForce(decision);
        if (start.isPresent()) {
            explainer.after(start.get());
            decision.reason().inputs().stream()
                    .filter(input -> input <= start.get().sequence())
                    .forEach(input -> history.event(domain, input).ifPresent(explainer::take));
            ClusterState.Mode mode = start.get().state().mode();
            if (mode.frozen() || mode.advisory() || mode.lendingStopped()) {
                commands.get().stream()
                        .filter(event -> event.domain().equals(domain)
                                && event.sequence() <= start.get().sequence())
                        .sorted(Comparator.comparingLong(DomainEvent::sequence))
                        .forEach(orders::take);
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
    }

    Explanation explanation() {
        return explainer.explanation();
    }

    /** Whether the plan that the decision follows is older than the replay. */
    boolean missesPlan() {
        return explainer.missesPlan();
    }

    /** The commands in force at the time of the decision. */
    List<DomainEvent> inForce() {
        return orders.inForce();
    }
}
