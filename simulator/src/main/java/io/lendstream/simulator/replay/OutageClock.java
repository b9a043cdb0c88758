package io.lendstream.simulator.replay;

import io.lendstream.core.event.Node;
import io.lendstream.core.id.NodeId;
import io.lendstream.simulator.replay.Outages.Outage;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/** Says in the order of time what becomes of nodes. */
final class OutageClock {
    private final Outages outages;
    private final PriorityQueue<Turn> turns = new PriorityQueue<>(
            Comparator.comparing(Turn::at).thenComparing(Turn::node).thenComparing(Turn::kind));
    private final Map<NodeId, SplittableRandom> chances = new HashMap<>();

    enum Kind {
        LOST,
        MISSED,
        BACK
    }

    record Turn(Instant at, NodeId node, Kind kind) {}

    OutageClock(Outages outages, List<Node> nodes, Instant start, long seed) {
        this.outages = outages;
        outages.scripted().forEach(this::add);
        if (!outages.mtbf().isZero()) {
            SplittableRandom random = new SplittableRandom(seed);
            for (Node node : nodes) {
                chances.put(node.nodeId(), random.split());
                addByChance(node.nodeId(), start);
            }
        }
    }

    Optional<Instant> nextAt() {
        return Optional.ofNullable(turns.peek()).map(Turn::at);
    }

    /** The next turn, if it is due. */
    Optional<Turn> poll(Instant now) {
        if (turns.isEmpty() || turns.element().at.isAfter(now)) {
            return Optional.empty();
        }
        Turn turn = turns.remove();
        if (turn.kind == Kind.BACK && chances.containsKey(turn.node)) {
            addByChance(turn.node, turn.at);
        }
        return Optional.of(turn);
    }

    private void addByChance(NodeId node, Instant worksFrom) {
        SplittableRandom chance = Optional.ofNullable(chances.get(node)).orElseThrow();
        double works = -Math.log(1 - chance.nextDouble()) * outages.mtbf().toMillis();
        Instant from = worksFrom.plus(Duration.ofMillis(1 + Math.round(works)));
        add(new Outage(node, from, from.plus(outages.repair())));
    }

    private void add(Outage outage) {
        turns.add(new Turn(outage.from(), outage.node(), Kind.LOST));
        turns.add(new Turn(outage.from().plus(outages.noticedAfter()), outage.node(), Kind.MISSED));
        turns.add(new Turn(outage.to(), outage.node(), Kind.BACK));
    }
}
